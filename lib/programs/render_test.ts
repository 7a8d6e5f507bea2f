import assert from "node:assert/strict";
import { recentDialect } from "../../tests/harness/dialect.ts";
import type { Probe } from "./probe.ts";
import { quote } from "./quoting.ts";
import { type Dialect, render } from "./render.ts";
import { ALIGNED } from "./short_line.ts";
import { parseTemplate } from "./template.ts";

const dialect: Dialect = {
  ...recentDialect,
  hasTracepoint: (name) => name !== "a:missing",
  hasCounter: (name) => name !== "missing",
};

function probe(template: string, extra: Partial<Probe> = {}): Probe {
  const decoder = () => ({ event() {}, end() {} });
  return { name: "t/p", summary: "", template, records: { hit: [{ name: "x", type: "int" }] }, decoder, ...extra };
}

function rendered(p: Probe, sites: Record<string, string[]> = {}, more: Partial<Dialect> = {}): string {
  const plan = { stream: "s", probes: [p], filter: { type: "tree", pids: [42] }, window: "signalled" } as const;
  return render(plan, { ...dialect, ...more }, (site) => site.functions.flat().flatMap((s) => sites[String(s)] ?? [])).text;
}

Deno.test("records are put together on the stack where a program stands at a raw tracepoint", () => {
  const p = probe("{{done}} { EMIT(hit, 1); }", { params: { done: { type: "tracepoint", raw: "b_done", name: "a:b" } } });
  assert.match(rendered(p, {}, { rawTracepoints: true }), /^config = \{ on_stack_limit = 128 \}\nBEGIN [^]*\nrawtracepoint:b_done /);
  assert.match(rendered(p), /^BEGIN [^]*\ntracepoint:a:b /);
  assert.match(rendered(probe("tracepoint:a:b { EMIT(hit, 1); }"), {}, { rawTracepoints: true }), /^BEGIN /);
});

Deno.test("a tracepoint that an older kernel lacks is left out where a parameter names it, and an expression is that of the kernel", () => {
  const params = {
    gone: { type: "tracepoint", raw: "missing", name: "a:missing" },
    size: { type: "field", field: "a:b.order", is: "args->order", without: "0" },
  } as const;
  const p = probe("{{gone}} { EMIT(hit, 7); } tracepoint:a:b { EMIT(hit, {{size}}); }", { params });
  for (const rawTracepoints of [false, true]) assert.doesNotMatch(rendered(p, {}, { rawTracepoints }), /missing/);
  assert.match(rendered(p), /tid, \(args->order\)/);
  assert.match(rendered(p, {}, { hasTracepoint: (name) => !name.includes(".") }), /tid, \(0\)/);
});

Deno.test("a program hears all signals that are for it in one block: the kernel runs no more than 64 at a tracepoint", () => {
  const blocks = rendered(probe("tracepoint:a:b { EMIT(hit, 1); }")).split("\n").filter((block) =>
    block.startsWith("tracepoint:syscalls:sys_enter_kill")
  );
  assert.equal(blocks.length, 1);
  for (const signal of [28, 23, 17]) assert.match(blocks[0]!, new RegExp(`if \\(\\$to == \\{\\{self\\}\\}\\) \\{.*if \\(\\$signal == ${signal}\\)`));
});

Deno.test("EMIT counts, prints kind, time, process and thread in one number, and keeps commas inside brackets", () => {
  const text = rendered(probe(`tracepoint:a:b /FILTER/ { EMIT(hit, strncmp(str(arg0, 8), "a,b)", 3)); }`));
  assert.match(
    text,
    /tracepoint:a:b \/@w && @tree\[pid\]\/ \{ @n = count\(\); printf\("10 %llu %llu %lld\\n", nsecs, \(uint64\)pid \* 4194304 \+ tid, strncmp/,
  );
  assert.match(text, /@tree\[\(uint32\)42\] = 1;/);
});

Deno.test("a text that begins with one of several: each is a literal of its own", () => {
  const params = { known: { type: "begins", text: "$name", with: ["libx.", 'lib"y'] } } as const;
  const text = rendered(probe("tracepoint:a:b { $name = str(arg0, 64); if ({{known}} && arg1) { EMIT(hit, 1); } }", { params }));
  assert.ok(text.includes('if ((strncmp($name, "libx.", 5) == 0 || strncmp($name, "lib\\"y", 5) == 0) && arg1)'), text);
});

Deno.test("an address that allows it is told with its thread in one number, where all processors share a buffer", () => {
  const p = probe("tracepoint:a:b { $t = (uint64)arg0; EMIT(at, $t); }", { records: { at: [{ name: "t", type: "int", unit: ALIGNED }] } });
  const whole = 'printf("10 %llu %llu %lld\\n", nsecs, (uint64)pid * 4194304 + tid, $t)';
  const short = 'printf("10 %llu x%llx\\n", nsecs, ($t << 18) + tid)';
  assert.ok(rendered(p).includes(`@n = count(); (($t & 15) == 0 && ($t >> 46) == 1) ? ${short} : ${whole};`), rendered(p));
  assert.ok(rendered(p, {}, { perCpuBuffers: 2 }).includes(`@n = count(); @lines = count(); ${whole};`));
});

const frequent = {
  records: {
    name: [{ name: "x", type: "int" }, { name: "text", type: "text" }],
    pair: [{ name: "x", type: "int" }, { name: "y", type: "int" }],
    one: [],
    wide: [{ name: "x", type: "int" }, { name: "y", type: "int" }, { name: "z", type: "int" }, { name: "u", type: "int" }],
  },
  hot: true,
} as const;

Deno.test("without a ring buffer, frequent numbers become rows of rotating maps, all of one shape; text and many numbers are printed", () => {
  const hot = probe("tracepoint:a:b { EMIT(name, 1, buf(arg0, 64)); EMIT(pair, arg0, arg1); EMIT(one); EMIT(wide, 1, 2, 3, 4); }", frequent);
  const plan = {
    stream: "s",
    probes: [probe("tracepoint:a:c { EMIT(hit, 1); }"), hot],
    filter: { type: "processes", pids: [42] },
    window: "signalled",
  } as const;
  const { text, schema, sites } = render(plan, { ...dialect, perCpuBuffers: 2 }, () => []);
  assert.match(text, /tracepoint:a:b \{ @n = count\(\); @lines = count\(\); printf\("11 .*%rh/);
  const escaped = render(plan, { ...dialect, perCpuBuffers: 2, printsHexadecimal: false }, () => []);
  assert.deepEqual([escaped.text, escaped.escapes], [text.replaceAll("%rh", "%r"), true]);
  assert.match(
    text,
    /\$row = \(\(int64\)\(12\), \(int64\)\(\(uint64\)pid \* 4194304 \+ tid\), \(int64\)\(arg0\), \(int64\)\(arg1\)\); if .* @rows1\[nsecs, cpu\] = \$row;/,
  );
  assert.match(
    text,
    /\$row = \(\(int64\)\(13\), \(int64\)\(\(uint64\)pid \* 4194304 \+ tid\), \(int64\)\(0\), \(int64\)\(0\)\); if .* @rows2\[nsecs, cpu\] = \$row;/,
  );
  assert.match(text, /printf\("14 %llu %llu %lld %lld %lld %lld/);
  assert.match(text, /if \(@filling == 1\) \{ print\(@rows0\); clear\(@rows0\); print\(@offered0\); print\(\(8, @relieved\)\);/);
  assert.deepEqual(schema.rows, ["t/p.pair", "t/p.one"]);
  assert.deepEqual(sites.map(({ attach, isPrinted = false }) => [attach, isPrinted]), [["tracepoint:a:c", true], ["tracepoint:a:b", false]]);
  assert.equal([...text.matchAll(/@n = count\(\)/g)].length, 5, "each is counted once");
  assert.equal([...text.matchAll(/@lines = count\(\); printf/g)].length, 6, "each line that is printed: clock, window, records");
  assert.equal([...text.matchAll(/printf/g)].length, 6);
});

Deno.test("without a ring buffer, what is told a few times for each token goes with what is told for each operator, and alone it is printed", () => {
  const hot = probe("tracepoint:a:b { EMIT(one); }", { ...frequent, records: { one: [] } });
  const seldom = { ...probe("tracepoint:a:c { EMIT(pair, 1, 2); }", { records: { pair: frequent.records.pair } }), name: "t/q" };
  const rows = (probes: readonly Probe[]) =>
    render({ stream: "s", probes, filter: { type: "processes", pids: [42] }, window: "signalled" }, { ...dialect, perCpuBuffers: 2 }, () => []).schema
      .rows;
  assert.deepEqual(rows([{ ...seldom, perToken: true }, hot]), ["t/q.pair", "t/p.one"]);
  assert.deepEqual(rows([seldom, hot]), ["t/p.one"]);
  assert.equal(rows([{ ...seldom, perToken: true }]), undefined);
});

Deno.test("REPEAT walks through a map of numbers where bpftrace can, and is a short loop where it cannot", () => {
  const p = probe("tracepoint:a:b { REPEAT($i, $left) { EMIT(hit, $i); } @next = REPEATS; }");
  const plan = { stream: "s", probes: [p], filter: { type: "processes", pids: [42] }, window: "signalled" } as const;
  const walks = render(plan, dialect, () => []).text;
  assert.match(walks, /BEGIN \{.*while \(\$each < 64\) \{ @each\[\$each \+ 0\] = \(uint64\)1;.*@each\[\$each \+ 448\]/);
  assert.match(walks, /@next = 512;/);
  assert.match(walks, /for \(\$each : @each\) \{ \$i = \(uint64\)\$each\.0; if \(\$i < \$left\) \{ @n = count\(\); printf/);
  assert.match(walks, /if \(\$left <= 20\) \{ \$turn = \(uint64\)0; while \(\$turn < 20\) .* else \{ for/, "few are not worth a walk");
  const loops = render(plan, { ...dialect, walksMaps: false }, () => []).text;
  assert.match(
    loops,
    /\$turn = \(uint64\)0; while \(\$turn < 20\) \{ \$i = \$turn; \$turn = \$turn \+ 1; if \(\$i < \$left\) \{ @n = count\(\); printf/,
  );
  assert.match(loops, /@next = 20;/);
  assert.doesNotMatch(loops, /@each/);
});

Deno.test("where there is a ring buffer, or nothing frequent is attached, there are no maps for rows", () => {
  const hot = probe("{{f}} { EMIT(pair, arg0, arg1); }", { ...frequent, params: { f: { type: "site", at: "entry", functions: [["f"]] } } });
  assert.doesNotMatch(rendered(hot, { f: [`uprobe:"x":"f"`] }), /@rows/);
  const plan = { stream: "s", probes: [hot], filter: { type: "processes", pids: [42] }, window: "signalled" } as const;
  const { text, schema } = render(plan, { ...dialect, perCpuBuffers: 2 }, () => []);
  assert.doesNotMatch(text, /@rows|@filling/);
  assert.equal(schema.rows, undefined);
});

Deno.test("sums are printed when the window is shut, and a hit that adds to one is told by no record", () => {
  const params = { f: { type: "site", at: "entry", functions: [["f"]] }, g: { type: "site", at: "entry", functions: [["g"]] } } as const;
  const adding = probe("{{f}} { @s[arg0] = @s[arg0] + 1; EMIT(hit, 1); }\n{{g}} { EMIT(hit, 2); }", {
    params,
    maps: { m: { key: [], unit: "bytes" } },
    sums: { s: { key: ["x"], unit: "calls" } },
    perOperator: { site: "f", hits: 2 },
  });
  const plan = { stream: "s", probes: [adding], filter: { type: "processes", pids: [42] }, window: "signalled" } as const;
  const { text, schema, sites } = render(plan, dialect, ({ functions }) => [`uprobe:"x":"${functions.flat()[0]}"`]);
  assert.match(text, /print\(\(9, nsecs\)\); if \(@w == 0\) \{ print\(@s\); \} print\(@m\); print\(@n\);/);
  assert.deepEqual(schema.maps, { m: "t/p.m", s: "t/p.s" });
  assert.deepEqual(sites.map(({ records, perOperator }) => [records, perOperator]), [[[], 2], [["t/p.hit"], undefined]]);
});

Deno.test("a block whose tracepoint this kernel lacks is left out, its neighbour stays", () => {
  const text = rendered(probe(`tracepoint:a:missing { EMIT(hit, 1); }\n// a comment with { in it\ntracepoint:a:b { EMIT(hit, 2); }`));
  assert.doesNotMatch(text, /missing/);
  assert.match(text, /tracepoint:a:b/);
});

Deno.test("a site becomes its attach points, and a block whose site exists nowhere is left out", () => {
  const params = { f: { type: "site", at: "entry", functions: [["f"]] }, g: { type: "site", at: "return", functions: [["g"]] } } as const;
  const text = rendered(probe(`{{f}} /FILTER/ { EMIT(hit, arg0); }\n{{g}} { EMIT(hit, retval); }`, { params }), { f: [`uprobe:"/l":"f"+4`] });
  assert.match(text, /uprobe:"\/l":"f"\+4 \/@w/);
  assert.doesNotMatch(text, /retval/);
});

Deno.test("parameters are written by type and cannot change the program", () => {
  const params = { n: { type: "int", value: 7 }, s: { type: "text", value: 'a"\\; system("id"); //' } } as const;
  const text = rendered(probe(`tracepoint:a:b { if (strncmp(str(arg0), {{s}}, {{n}}) == 0) { EMIT(hit, {{n}}); } }`, { params }));
  assert.ok(text.includes('"a\\"\\\\; system(\\"id\\"); //", 7)'));
  assert.throws(() => quote("a\nb"), /cannot be written/);
});

Deno.test("mistakes in a template are found when it is rendered", () => {
  assert.throws(() => rendered(probe("tracepoint:a:b { EMIT(hit, 1, 2); }")), /1 fields declared, 2 given/);
  assert.throws(() => rendered(probe("tracepoint:a:b { EMIT(miss, 1); }")), /no record 'miss'/);
  assert.throws(() => rendered(probe("tracepoint:a:b { {{none}} }")), /unknown parameter/);
  assert.throws(() => parseTemplate("tracepoint:a:b { "), /body without an end/);
  assert.throws(() => parseTemplate("tracepoint:a:b /x { }"), /predicate without an end/);
});

Deno.test("hardware counters: those that are here, told once in as many events as was asked for", () => {
  const params = { every: { type: "int", value: 1000 } } as const;
  const p = probe("hardware:cpu-cycles:{{every}} /FILTER/ { EMIT(hit, {{every}}); }\nhardware:missing:{{every}} { EMIT(hit, 1); }", { params });
  const text = rendered(p);
  assert.match(text, /^hardware:cpu-cycles:1000 \/@w && @tree\[pid\]\/ \{.*1000\)/m);
  assert.doesNotMatch(text, /missing/);
});

Deno.test("without a ring buffer, a list of tracepoints becomes a block for each where one of them stands in another block too", () => {
  const list = probe("tracepoint:a:b, tracepoint:a:c { @x = 1; } tracepoint:a:d, tracepoint:a:e { $x = args->x; }");
  const other = probe("tracepoint:a:c { $y = args->y; }", { name: "t/q" });
  const plan = { stream: "s", probes: [list, other], filter: { type: "processes", pids: [42] }, window: "open" } as const;
  const old = render(plan, { ...dialect, perCpuBuffers: 2 }, () => []).text;
  assert.match(old, /^tracepoint:a:b \{ @x = 1; \}\ntracepoint:a:c \{ @x = 1; \}\ntracepoint:a:d,\ntracepoint:a:e \{/m);
  assert.match(render(plan, dialect, () => []).text, /^tracepoint:a:b,\ntracepoint:a:c \{/m);
});
