import assert from "node:assert/strict";
import { stripVTControlCharacters } from "node:util";
import type { View } from "../lib/events/view.ts";
import { renderText } from "./text.ts";
import { columns } from "./text/cells.ts";

const views: View[] = [
  {
    type: "facts",
    title: "Cold start of llama-server (4711)",
    facts: [
      { name: "time to first token", value: 4.2134e9, unit: "ns", note: "from exec on" },
      { name: "model", value: "/models/llama-3-8b-instruct.Q4_0.gguf", unit: "text" },
      {
        name: "read from disk",
        value: 113_246_208,
        unit: "bytes",
        note: "the page cache held the rest, so another start of this program would not read at all",
      },
      { name: "PMU", value: null, unit: "count", note: "not here" },
    ],
  },
  {
    type: "waterfall",
    title: "Where the time goes",
    total: 4.2134e9,
    steps: [
      { name: "exec and dynamic linking", start: 0, duration: 12.3e6 },
      { name: "find the CPU variant", start: 12.3e6, duration: 140e6, note: "14 libraries, one kept" },
      { name: "read the model", start: 152.3e6, duration: 2.1e9, note: "113.2 MB" },
      { name: "create the context", start: 2252.3e6, duration: 311e6 },
      { name: "prompt", start: 2563.3e6, duration: 1.65e9 },
      { name: "first token", start: 4213.2e6, duration: 2e5 },
    ],
  },
  {
    type: "table",
    title: "Operators",
    columns: [{ title: "op", unit: "text" }, { title: "calls", unit: "count" }, { title: "time", unit: "ns" }, { title: "share", unit: "ratio" }, {
      title: "longest",
      unit: "text",
    }],
    rows: [
      ["MUL_MAT", 12_345, 1.234e9, 0.8123, "blk.12.ffn_gate_up_proj.weight (reshaped) (permuted) (cont)"],
      ["日本語", 99, 999_600, 0.01, "x\x1b[31mred"],
      ["SOFT_MAX", 0, null, null, null],
    ],
  },
  {
    type: "table",
    title: "Held",
    columns: [{ title: "bytes", unit: "bytes" }, { title: "asked for in", unit: "text", below: true }],
    rows: [
      [1000, "cudaMalloc (libcudart.so.13) ← c10::cuda::CUDACachingAllocator::malloc (libc10_cuda.so) ← at::empty (libtorch_cpu.so)"],
      [5, null],
    ],
  },
  { type: "table", title: "Experts", columns: [{ title: "expert", unit: "count" }], rows: [] },
  {
    type: "note",
    level: "warning",
    text: "23 events of ggml were lost, so the sums of operators are too small. Use --buffer-pages 4096, or look at fewer layers.",
  },
  { type: "note", level: "info", text: "Times leave out 12.3 ms." },
];

Deno.test("views on a terminal of 90 columns", () => {
  assert.equal(renderText(views, { width: 90, colour: false }), golden);
});

Deno.test("colour adds nothing but colour", () => {
  const coloured = renderText(views, { width: 90, colour: true });
  assert.notEqual(coloured, golden);
  assert.equal(stripVTControlCharacters(coloured).replaceAll(/ +\n/g, "\n"), golden);
});

Deno.test("lines fit, and none ends in a space", () => {
  for (const width of [60, 72, 80, 100, 132, 240]) {
    for (const line of renderText(views, { width, colour: false }).trimEnd().split("\n")) {
      assert.ok(columns(line) <= width, `${columns(line)} > ${width}: ${line}`);
      assert.equal(line, line.trimEnd());
    }
  }
});

Deno.test("a waterfall's axis ends in its total, from its zero on where there is room for both, at every width", () => {
  const ends = [[100e9, "1 min 40 s"], [240e9, "4 min 00 s"], [750e9, "12 min 30 s"], [1300e9, "21 min 40 s"], [4000e9, "1 h 06 min"]] as const;
  for (const [total, end] of ends) {
    const step = { name: "read the model", start: 0, duration: total };
    for (let width = 40; width <= 240; width++) {
      const [, axis] = renderText([{ type: "waterfall", title: "Start", total, steps: [step] }], { width, colour: false }).split("\n");
      assert.ok(columns(axis!) <= width, `${width}: ${axis}`);
      assert.match(axis!.replace(/^ +0 /, " "), new RegExp(`^ +(─* .+ s ─* )?${end}$`), `${width}`);
    }
  }
});

Deno.test("nothing to show is no text, and no time at all is no bar", () => {
  assert.equal(renderText([], { width: 80, colour: false }), "");
  const nothing: View = { type: "waterfall", title: "Empty", total: 0, steps: [{ name: "step", start: 0, duration: 0 }] };
  assert.match(renderText([nothing], { width: 80, colour: false }), /^ {2}step +0 ns$/m);
});

const golden = `Cold start of llama-server (4711)
  time to first token  4.21 s                    from exec on
  model                /models/llama-3-8b-instruct.Q4_0.gguf
  read from disk       113.2 MB
                       the page cache held the rest, so another start of this program
                       would not read at all
  PMU                  –                         not here

Where the time goes
                            0              4.21 s
  exec and dynamic linking  ▏                      12.3 ms   0.3 %
  find the CPU variant      ▊                       140 ms   3.3 %  14 libraries, one kept
  read the model            ▐██████████▎            2.10 s  49.8 %  113.2 MB
  create the context                   █▊           311 ms   7.4 %
  prompt                                ▐████████   1.65 s  39.2 %
  first token                                   ▐   200 µs  <0.1 %

Operators
  op         calls     time   share  longest
  ────────  ──────  ───────  ──────  ─────────────────────────────────────────────────────
  MUL_MAT   12,345   1.23 s  81.2 %  blk.12.ffn_gate_u…weight (reshaped) (permuted) (cont)
  日本語        99  1.00 ms   1.0 %  x�[31mred
  SOFT_MAX       0        –       –  –

Held
   bytes  ↓ asked for in
  ──────
  1.0 kB
      cudaMalloc (libcudart.so.13) ← c10::cuda::CUDACachingAllocator::malloc
      (libc10_cuda.so) ← at::empty (libtorch_cpu.so)
     5 B

Experts
  (none)

Warning: 23 events of ggml were lost, so the sums of operators are too small. Use
         --buffer-pages 4096, or look at fewer layers.
Note: Times leave out 12.3 ms.
`;
