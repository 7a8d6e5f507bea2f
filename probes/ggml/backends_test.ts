import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { life } from "../process/life.ts";
import { backends } from "./backends.ts";

/** Where code of these libraries is. */
const CPU = 0x1000, BASE = 0x2000, VULKAN = 0x3000, SYCL = 0x4000;
const files = { [CPU]: "libggml-cpu-zen4.so", [BASE]: "libggml-base.so", [VULKAN]: "libggml-vulkan.so.0", [SYCL]: "libggml-sycl.so" };

/** Of process 100, whose code is known. */
function decoding(): Decoding {
  const d = new Decoding(backends, life);
  const ranges = Object.entries(files).map(([at, file]) => ({ at: Number(at), bytes: 0x1000, file }));
  d.fact(0, { fact: "code", pid: 100, ranges, functions: [] });
  d.fact(0, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "ADD", "MUL_MAT"] });
  return d;
}

const split = "ggml/backends.split", back = "ggml/backends.split_return", moved = "ggml/backends.moved";

Deno.test("backends: parts of a graph by their device, which is called as the copies for it say", () => {
  const d = decoding();
  d.event(10, split, { backend: 1, code: CPU + 5, graph: 7, nodes: 2 });
  d.event(20, back);
  d.event(21, "ggml/backends.copy", { code: VULKAN, bytes: 256, name: "Vulkan1#ffn_out-0#0" });
  d.event(22, "ggml/backends.set", { code: VULKAN, bytes: 256, name: "Vulkan1#ffn_out-0#0" });
  d.event(24, moved);
  d.event(25, moved);
  d.event(30, split, { backend: 2, code: VULKAN + 5, graph: 8, nodes: 3, seesCopies: 1 });
  d.event(31, back);
  d.event(40, "ggml/backends.get", { code: VULKAN, bytes: 2048, name: "result_output" });
  d.event(45, moved);
  assert.deepEqual(d.end(50), [
    '100/100 ggml.split "CPU" 10–20 nodes=2',
    '100/100 ggml.copy "to Vulkan1" 22–24 device=Vulkan1 tensor=ffn_out-0 layer=0 bytes=256',
    '100/100 ggml.split "Vulkan1" 30–31 nodes=3',
    '100/100 ggml.copy "from Vulkan1" 40–45 device=Vulkan1 tensor=result_output bytes=2048 time=computing, too',
  ]);
});

Deno.test("backends: what lies in the host's memory is no copy, nobody waits for the CPU, and code that nobody knows is no known device", () => {
  const d = decoding();
  d.event(10, "ggml/backends.set", { code: BASE + 1, bytes: 4, name: "inp_tokens" });
  d.event(11, moved);
  d.event(12, "ggml/backends.wait", { backend: 1, code: CPU });
  d.event(13, "ggml/backends.wait_return");
  d.event(14, "ggml/backends.wait", { backend: 2, code: VULKAN });
  d.event(18, "ggml/backends.wait_return");
  d.event(20, split, { backend: 3, code: 0x9000, nodes: 1 }, "100/101");
  d.event(21, back, {}, "100/101");
  assert.deepEqual(d.end(50), [
    '100/100 ggml.device_wait "wait for Vulkan" 14–18 device=Vulkan',
    '100/101 ggml.split "unknown device" 20–21 nodes=1',
  ]);
});

Deno.test("backends: a device that does not copy itself leaves it to others; what it copies itself is told", () => {
  const d = decoding();
  d.event(10, "ggml/backends.own", { code: VULKAN, bytes: 64, name: "Vulkan0#a#0" });
  d.event(11, "ggml/backends.own_return", { ok: 0 });
  d.event(12, "ggml/backends.own", { code: VULKAN, bytes: 64, name: "Vulkan0#b#0" });
  d.event(15, "ggml/backends.own_return", { ok: 1 });
  d.event(16, moved);
  assert.deepEqual(d.end(50), ['100/100 ggml.copy "to Vulkan0" 12–15 device=Vulkan0 tensor=b bytes=64 time=asking']);
});

Deno.test("backends: a copy that is asked for takes the time of asking, unless the device is asked in another way", () => {
  const d = decoding();
  d.event(10, "ggml/backends.get_async", { code: VULKAN, bytes: 64, name: "result_output" });
  d.event(11, moved);
  d.event(12, "ggml/backends.set_async", { code: VULKAN, bytes: 64, name: "blk.0.q.weight" });
  d.event(13, "ggml/backends.set", { code: VULKAN, bytes: 64, name: "blk.0.q.weight" });
  d.event(15, moved);
  d.event(16, moved);
  assert.deepEqual(d.end(50), [
    '100/100 ggml.copy "from Vulkan" 10–11 device=Vulkan tensor=result_output bytes=64 time=asking',
    '100/100 ggml.copy "to Vulkan" 13–15 device=Vulkan tensor=blk.0.q.weight bytes=64',
  ]);
});

Deno.test("backends: what is read from a device that computes waits for it, once", () => {
  const d = decoding();
  const read = (at: number) => {
    d.event(at, "ggml/backends.get", { code: VULKAN, bytes: 64, name: "result_output" });
    d.event(at + 1, moved);
  };
  const compute = (at: number) => {
    d.event(at, split, { backend: 2, code: VULKAN, graph: 8, nodes: 3 });
    d.event(at + 1, back);
  };
  compute(10);
  read(20);
  read(30);
  compute(40);
  d.event(42, "ggml/backends.wait", { backend: 2, code: VULKAN });
  d.event(43, "ggml/backends.wait_return");
  read(50);
  const reads = d.end(60).filter((line) => line.includes("ggml.copy"));
  assert.deepEqual(reads.map((line) => line.includes("time=computing, too")), [true, false, false]);
});

Deno.test("backends: a part whose return was lost ends with the next one, or with the run, and says so", () => {
  const d = decoding();
  d.event(10, split, { backend: 1, code: CPU, graph: 7, nodes: 2 });
  d.event(20, split, { backend: 1, code: CPU, graph: 7, nodes: 2 });
  assert.deepEqual(d.end(50), ['100/100 ggml.split "CPU" 10–20 (open) nodes=2', '100/100 ggml.split "CPU" 20–50 (open) nodes=2']);
});

Deno.test("backends: nodes are told once for a part that is computed again and again, a piece at a time", () => {
  const d = decoding();
  d.event(10, split, { backend: 1, code: CPU, graph: 7, nodes: 3 });
  d.event(11, "ggml/backends.node", { index: 1, op: 2, name: "Qcur-4" });
  d.event(12, "ggml/backends.node", { index: 0, op: 1, name: "embd" });
  d.event(13, back);
  d.event(20, split, { backend: 1, code: CPU, graph: 7, nodes: 3 });
  d.event(21, "ggml/backends.node", { index: 2, op: 0, name: "result_output" });
  d.event(22, back);
  const [first, second] = d.spans.map((span) => span.type === "slice" ? span.placed : undefined);
  assert.equal(first, second);
  assert.deepEqual([...first!.told].sort(([a], [b]) => a - b), [
    [0, { op: "ADD", name: "embd", layer: undefined }],
    [1, { op: "MUL_MAT", name: "Qcur-4", layer: 4 }],
    [2, { op: "NONE", name: "result_output", layer: undefined }],
  ]);
});

Deno.test("backends: a list of nodes that two devices compute in turns is known for each", () => {
  const d = decoding();
  for (const [at, code] of [[10, CPU], [20, VULKAN], [30, CPU]] as const) {
    d.event(at, split, { backend: code, code, graph: 7, nodes: 1, seesCopies: 1 });
    // The kernel tells of nodes once.
    if (at === 10) d.event(at + 1, "ggml/backends.node", { index: 0, op: 2, name: "Qcur-4" });
    d.event(at + 2, back);
  }
  const [first, , third] = d.spans.map((span) => span.type === "slice" ? span.placed : undefined);
  assert.equal(first, third);
  assert.equal(third!.told.size, 1);
});

Deno.test("backends: what asks several devices to compute, and waits for each, is none of them", () => {
  const d = decoding();
  const compute = (at: number, code: number) => d.event(at, split, { backend: code, code, graph: at, nodes: 2, seesCopies: 1 });
  compute(10, BASE);
  for (const at of [11, 13]) {
    compute(at, VULKAN);
    d.event(at + 1, back);
  }
  d.event(15, back);
  d.event(20, "ggml/backends.wait", { backend: 1, code: BASE });
  d.event(21, "ggml/backends.wait", { backend: 2, code: VULKAN });
  d.event(25, "ggml/backends.wait_return");
  d.event(26, "ggml/backends.wait_return");
  assert.deepEqual(d.end(50), [
    '100/100 ggml.split "Vulkan" 11–12 nodes=2',
    '100/100 ggml.split "Vulkan" 13–14 nodes=2',
    '100/100 ggml.device_wait "wait for Vulkan" 21–25 device=Vulkan',
  ]);
});

Deno.test("backends: a library without the names of its own functions is told of once", () => {
  const d = decoding();
  for (const at of [10, 20]) {
    d.event(at, split, { backend: 1, code: CPU, graph: 7, nodes: 2 });
    d.event(at + 1, back);
    d.event(at + 2, split, { backend: 2, code: VULKAN, graph: 8, nodes: 2 });
    d.event(at + 3, back);
    // Has none that would be asked.
    d.event(at + 4, split, { backend: 3, code: SYCL, graph: 9, nodes: 2 });
    d.event(at + 5, back);
  }
  const notes = d.end(50).filter((line) => line.startsWith("mark"));
  assert.deepEqual(notes, [
    "mark note 12 test: Vulkan may copy by itself, which is not seen: its library was stripped of the names of its own functions",
  ]);
});

Deno.test("backends: nodes that cannot be are not believed, nor are others of the process", () => {
  const d = decoding();
  d.event(10, split, { backend: 1, code: CPU, graph: 7, nodes: 3 });
  d.event(11, "ggml/backends.node", { index: 0, op: 2, name: "Qcur-4" });
  d.event(12, "ggml/backends.node", { index: 1, op: 77, name: "Qcur-5" });
  d.event(13, "ggml/backends.node", { index: 2, op: 1, name: "Qcur-6" });
  d.event(14, back);
  const [note, part] = d.spans;
  assert.match(note?.type === "mark" ? note.text : "", /^process 100: this build of ggml lays out its tensors as none that llmprof knows/);
  assert.equal(part?.type === "slice" && part.placed?.told.size, 0);
  assert.equal(d.end(50).filter((line) => line.startsWith("mark")).length, 1);
});
