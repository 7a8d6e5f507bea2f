/** A recording is a file that anybody may have written. */
import assert from "node:assert/strict";
import { openJsonl } from "../../exporters/jsonl.ts";
import { openChrome } from "../../exporters/chrome.ts";
import { openPerfetto } from "../../exporters/perfetto.ts";
import { summarise } from "../../lib/commands/summarise.ts";
import { demoProfile } from "../../lib/commands/demo_profile.ts";
import { probeCatalogue } from "../../lib/commands/probe_catalogue.ts";
import { ExitCode, LlmprofError } from "../../lib/events/errors.ts";
import type { Fact } from "../../lib/events/fact.ts";
import { splitBase } from "../../lib/events/time.ts";
import { Pseudonyms } from "../../lib/timeline/pseudonyms.ts";
import { replay } from "../../lib/timeline/replay.ts";
import type { RecordingSource } from "../../lib/timeline/recording_source.ts";
import { Redaction } from "../../lib/timeline/redaction.ts";
import { summarySchema } from "../../lib/analysis/summary_schema.ts";
import { demoResultSchema } from "../../lib/commands/demo_schema.ts";
import { demoFolder, demoRecording } from "../cli/demo_recording.ts";
import { runLlmprof } from "../cli/llmprof.ts";
import { seeded } from "../harness/spans.ts";
import { temporary } from "../harness/temporary.ts";
import { MemorySink } from "../judge/memory_sink.ts";
import { errors, judged } from "../judge/trace_processor.ts";
import { undecodableLines } from "./line_grammar.ts";
import { MemoryRecording } from "./memory_recording.ts";
import { withMutatedLines } from "./mutations.ts";
import { withRows } from "./row_recording.ts";
import { withLongLines, withShortLines } from "./short_recording.ts";

const whole = withLongLines(MemoryRecording.copy(await demoRecording()), "ggml");
const wholeInRows = withRows(whole, "ggml");
const { recording: wholeInShort, short } = withShortLines(whole, "ggml");
const schema = summarySchema(demoResultSchema);

/** Replays through the analysis and every exporter; what is said about it in the end. */
function replayed(source: RecordingSource) {
  const facts: Fact[] = [];
  const notes: string[] = [];
  const sinks = { pftrace: new MemorySink(), json: new MemorySink(), jsonl: new MemorySink() };
  let result: () => unknown = () => null;
  let close = () => {};
  const { header, timeline } = replay(source, probeCatalogue(demoProfile.probes), (header) => {
    const head = { clock: header.clock, llmprof: header.llmprof, command: header.command, facts: {} };
    const exporters = [openPerfetto(sinks.pftrace, head), openChrome(sinks.json, head), openJsonl(sinks.jsonl, head)];
    const analysis = demoProfile.analyse(header);
    result = () => analysis.result();
    close = () => exporters.forEach((exporter) => exporter.close(demoProfile.present(analysis.result())));
    return {
      base: splitBase(header.clock.base),
      onFact: (fact) => void facts.push(fact),
      out: (span) => {
        for (const exporter of exporters) exporter.span(span);
        analysis.span(span);
        if (span.type === "mark" && span.kind === "note") notes.push(span.text);
      },
    };
  });
  close();
  const summary = summarise(header, timeline, facts, undefined, [], notes, result());
  JSON.parse(sinks.json.text());
  for (const line of sinks.jsonl.text().trimEnd().split("\n")) JSON.parse(line);
  return { summary, sinks, timeline };
}

function undecodable(source: MemoryRecording): number {
  const base = BigInt(JSON.parse(source.head).clock.base);
  return [...source.bytes.values()].reduce((sum, bytes) => sum + undecodableLines(bytes, base), 0);
}

Deno.test("recordings: the whole one says nothing of a cut, and both grammars understand all of it", () => {
  const { summary } = replayed(whole);
  assert.equal(undecodable(whole), 0);
  assert.deepEqual([summary.events.undecodable, summary.events.lost, summary.notes], [0, 0, []]);
});

Deno.test("recordings: cut at each of 500 places, it replays to there and says how far that is, or says what is wrong", () => {
  const random = seeded(4);
  const source = whole.shortened(60);
  let read = 0, refused = 0, cut = 0;
  for (let i = 0; i < 500; i++) {
    const stream = source.streams()[random(source.streams().length)]!;
    const bytes = source.bytes.get(stream)!;
    const length = random(bytes.length);
    const truncated = source.with(stream, bytes.subarray(0, length));
    try {
      const { summary } = replayed(truncated);
      schema.parse(JSON.parse(JSON.stringify(summary)));
      assert.equal(summary.events.undecodable, undecodable(truncated), `${stream} cut at ${length}`);
      assert.ok(summary.events.lost >= 0);
      const complete = new TextDecoder().decode(bytes.subarray(bytes.indexOf(10) + 1, bytes.lastIndexOf(10, length - 1) + 1));
      const [windowOpened, windowClosed] = [/^1 /m.test(complete), /^2 /m.test(complete)];
      if (stream !== "host" && windowOpened && !windowClosed) {
        cut++;
        assert.ok(summary.notes.some((note) => note.startsWith(`${stream}: cut off `)), summary.notes.join("\n"));
      }
      read++;
    } catch (error) {
      assert.ok(error instanceof LlmprofError, `${stream} cut at ${length}: ${(error as Error).stack}`);
      assert.equal(error.exitCode, ExitCode.failed);
      assert.match(error.message, /memory\.llmprof\/\w[\w-]*\.lines: it ends before its first line does\./);
      assert.ok(length <= bytes.indexOf(10), "only what has lost its description is refused");
      refused++;
    }
  }
  assert.ok(read > 300 && cut > 200 && refused > 50, `${read} read, ${cut} of them cut, ${refused} refused`);
});

Deno.test("recordings: a header cut at each of its bytes is refused by its name", () => {
  for (let length = 0; length < whole.head.trimEnd().length; length++) {
    const error = caught(() => replayed(new MemoryRecording(whole.head.slice(0, length), whole.bytes)));
    assert.match(error.message, /^Cannot read the recording memory\.llmprof\/header\.json: /);
  }
});

for (const [name, recording] of [["rows of maps", wholeInRows], ["short lines", wholeInShort]] as const) {
  Deno.test(`recordings: one with ${name} tells what the same one with whole lines tells`, () => {
    const [lines, others] = [replayed(whole), replayed(recording)];
    assert.equal(undecodable(recording), 0);
    assert.ok(recording !== wholeInShort || short > 1000, `${short} short lines`);
    assert.deepEqual(others.summary, lines.summary);
    const spans = ({ sinks }: typeof lines) => sinks.jsonl.text().split("\n").sort();
    assert.deepEqual(spans(others), spans(lines));
  });
}

function mutatedLines(recording: MemoryRecording) {
  const random = seeded(23);
  let lines = 0;
  let source = recording;
  for (const stream of recording.streams()) {
    const mutated = withMutatedLines(recording.bytes.get(stream)!, random);
    lines += mutated.lines;
    source = source.with(stream, mutated.bytes);
  }
  return { source, lines };
}

const [mutations, mutationsInRows] = [mutatedLines(whole), mutatedLines(wholeInRows)];
const mutated = [
  ["mutated lines", mutations],
  ["mutated lines with rows of maps", mutationsInRows],
  ["mutated short lines", mutatedLines(wholeInShort)],
] as const;

for (const [name, { source, lines }] of mutated) {
  Deno.test(`recordings: of more than 10,000 ${name}, each that cannot be read is counted`, () => {
    assert.ok(lines >= 10_000, `${lines} lines`);
    const expected = undecodable(source);
    const { summary, sinks } = replayed(source);
    assert.equal(summary.events.undecodable, expected);
    assert.ok(expected > lines / 3, `${expected} of ${lines} cannot be read`);
    const marks = sinks.jsonl.text().split("\n").filter((line) => line.includes('"kind":"undecodable"')).length;
    assert.equal(marks, expected, "and each is a mark in the trace");
  });
}

Deno.test("recordings: under --redact as many mutated rows of maps cannot be read as without", () => {
  const [description, ...lines] = new TextDecoder().decode(mutationsInRows.source.bytes.get("ggml")).split("\n");
  const bytes = new TextEncoder().encode(lines.filter((line) => line.startsWith("@")).map((line) => `${line}\n`).join(""));
  const redaction = new Redaction(JSON.parse(description!), new Pseudonyms(), probeCatalogue(demoProfile.probes));
  const base = BigInt(JSON.parse(whole.head).clock.base);
  const unread = (bytes: Uint8Array) => undecodableLines(new Uint8Array([...new TextEncoder().encode(`${description}\n`), ...bytes]), base);
  assert.ok(unread(bytes) > 1000);
  assert.equal(unread(redaction.push(bytes)), unread(bytes));
});

Deno.test("recordings: under --redact short lines stay what they are", () => {
  const [description, ...lines] = new TextDecoder().decode(wholeInShort.bytes.get("ggml")).split("\n");
  const redaction = new Redaction(JSON.parse(description!), new Pseudonyms(), probeCatalogue(demoProfile.probes));
  const told = new TextDecoder().decode(redaction.push(new TextEncoder().encode(lines.join("\n")))).split("\n");
  const isShort = (line: string) => / x[0-9a-f]+$/.test(line);
  assert.equal(lines.filter(isShort).length, short);
  assert.deepEqual(told.filter(isShort), lines.filter(isShort));
});

judged("recordings: what the mutated lines left is a trace that Perfetto's reader takes", async () => {
  using folder = temporary();
  const { sinks } = replayed(mutations.source);
  for (const [extension, sink] of Object.entries(sinks)) {
    if (extension === "jsonl") continue;
    Deno.writeFileSync(folder.file(`t.${extension}`), sink.bytes());
    const found = await errors(folder.file(`t.${extension}`));
    // Mutated times make slices overlap, which it drops and counts, and a mutated process may be 0; but it must understand every packet.
    const expected = /out_of_order|overlap|misplaced|negative|process_missing_pid/;
    assert.deepEqual(found.filter(({ name }) => !expected.test(name)), [], extension);
  }
});

function caught(action: () => unknown): LlmprofError {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof LlmprofError, (error as Error).stack);
    assert.equal(error.exitCode, ExitCode.failed);
    return error;
  }
  throw new Error("nothing was wrong");
}

/** A field of the header, what it may hold instead, and what is said then. */
const wrongHeaders: readonly (readonly [field: string, values: readonly unknown[], said: RegExp])[] = [
  ["schemaVersion", [0, 2, "1", null, undefined, {}], /schemaVersion is .*; this llmprof reads 1\./],
  ["llmprof", [1, null, undefined, []], /field 'llmprof' is no text\./],
  ["command", [1, null, undefined, {}], /field 'command' is no text\./],
  ["options", [1, null, undefined, [], { tokens: {} }], /field 'options' is no object/],
  ["clock", [1, null, undefined, [], "boottime"], /field 'clock' is no object\./],
  ["clock.name", ["realtime", null, undefined], /field 'clock\.name' is not boottime\./],
  ["clock.base", [5, "5.5", "", "x", undefined, "9".repeat(20)], /field 'clock\.base' is no integer\./],
  ["clock.base", ["-1", "9".repeat(19)], /field 'clock\.base' is out of range\./],
  ["clock.realtimeOffset", [5, "0x5", undefined], /field 'clock\.realtimeOffset' is no integer\./],
  ["target", [1, null, undefined, []], /field 'target' is no object\./],
  ["target.pid", ["1", 1.5, null, undefined, 1e300], /field 'target\.pid' is not what it has to be\./],
  ["target.argv", ["node", null, undefined, [1]], /field 'target\.argv' is not what it has to be\./],
  ["target.started", ["yes", null, undefined], /field 'target\.started' is not what it has to be\./],
  ["root", ["1", 1.5, null], /field 'root' is no process id\./],
  ["tree", [1, null, [1], [["1"]], [[1], [1.5]]], /field 'tree' is no list of lists of process ids\./],
  ["host", [1, null, undefined, [], { cpu: {} }, { cpu: true }], /field 'host' is no object/],
  ["bpftrace", [1, undefined, {}, { path: 1, version: "" }, { path: "" }], /field 'bpftrace' is no path and version\./],
];

Deno.test("recordings: each field of a header that is wrong is named", () => {
  for (const [field, values, said] of wrongHeaders) {
    for (const value of values) {
      const header = JSON.parse(whole.head);
      const [outer, inner] = field.split(".") as [string, string?];
      if (inner === undefined) header[outer] = value;
      else header[outer][inner] = value;
      const error = caught(() => replayed(new MemoryRecording(JSON.stringify(header), whole.bytes)));
      assert.match(error.message, said, `${field} = ${JSON.stringify(value)}`);
      assert.match(error.next, /^Name a directory that llmprof wrote/);
    }
  }
});

Deno.test("recordings: names that mean something to JavaScript are names like others", () => {
  const header = JSON.parse(whole.head);
  header.host = JSON.parse('{"__proto__": "polluted", "constructor": "x", "toString": 1}');
  const text = JSON.stringify(header).replace('"schemaVersion"', '"__proto__":{"root":1},"constructor":{"prototype":1},"schemaVersion"');
  const { summary } = replayed(new MemoryRecording(text, whole.bytes));
  assert.equal(summary.events.undecodable, 0);
  assert.equal(({} as Record<string, unknown>).root, undefined);
  for (const command of ["__proto__", "constructor", "toString"]) {
    const text = JSON.stringify({ ...header, command });
    assert.equal(replayed(new MemoryRecording(text, whole.bytes)).summary.command, command);
  }
});

const field = { name: "x", type: "int" };
/** What a stream's first line may be changed to, and what is said then. */
const wrongDescriptions: readonly (readonly [change: (json: Record<string, unknown>) => unknown, said: RegExp])[] = [
  [() => null, /its first line is no stream description\./],
  [() => [], /its first line is no stream description\./],
  [() => "llama", /its first line is no stream description\./],
  [(json) => ({ ...json, stream: "ggml" }), /its first line describes another stream\./],
  [(json) => ({ ...json, stream: "../../etc/passwd" }), /its first line describes another stream\./],
  [(json) => ({ ...json, stream: undefined }), /its first line describes another stream\./],
  [(json) => ({ ...json, records: undefined }), /has no 'records'\./],
  [(json) => ({ ...json, records: [] }), /has no 'records'\./],
  [(json) => ({ ...json, maps: undefined }), /'maps' is no object of texts\./],
  [(json) => ({ ...json, maps: { sum: 5 } }), /'maps' is no object of texts\./],
  [(json) => ({ ...json, disorderNs: undefined }), /'disorderNs' is no number of nanoseconds\./],
  [(json) => ({ ...json, disorderNs: -1 }), /'disorderNs' is no number of nanoseconds\./],
  [(json) => ({ ...json, disorderNs: "0" }), /'disorderNs' is no number of nanoseconds\./],
  ...[0, -1, 1.5, "2", null].map((buffers) =>
    [(json: Record<string, unknown>) => ({ ...json, buffers }), /'buffers' is no number of buffers\./] as const
  ),
  ...["0", "-1", "1.5", "010", "1e1", "10000", "__proto__", "constructor", " 10", "4294967296"].map((kind) =>
    [
      (json: Record<string, unknown>) => ({ ...json, records: JSON.parse(`{"${kind}": {"name": "llama/calls.load", "fields": []}}`) }),
      /which is no number from 1 to 9999\./,
    ] as const
  ),
  [(json) => ({ ...json, rows: "llama/calls.load" }), /'rows' is no list of its records that are numbers\./],
  [(json) => ({ ...json, rows: ["ggml/ops.op"] }), /'rows' is no list of its records that are numbers\./],
  [(json) => ({ ...json, rows: ["window.open"] }), /'rows' is no list of its records that are numbers\./],
  [(json) => ({ ...json, records: { 10: null } }), /record 10 is not a name with fields\./],
  [(json) => ({ ...json, records: { 10: { name: "a.b" } } }), /record 10 is not a name with fields\./],
  [(json) => ({ ...json, records: { 10: { name: "a.b", fields: [{ name: "x", type: "float" }] } } }), /record 10 is not a name with fields\./],
  [(json) => ({ ...json, records: { 10: { name: "a.b", fields: [{ name: "x", type: "__proto__" }] } } }), /record 10 is not a name with fields\./],
  [(json) => ({ ...json, records: { 10: { name: "a.b", fields: [{ type: "text" }] } } }), /record 10 is not a name with fields\./],
  [
    (json) => ({ ...json, records: { 10: { name: "llama/calls.load", fields: [] }, 11: { name: "llama/calls.load", fields: [] } } }),
    /two kinds for the record "llama\/calls\.load"\./,
  ],
  [(json) => ({ ...json, records: { 10: { name: "a.b", fields: [{ name: "t", type: "text" }, field] } } }), /has a text before its end\./],
  [(json) => ({ ...json, records: { 10: { name: "window.open", fields: [] } } }), /record "window\.open" is not llmprof's own\./],
  [(json) => ({ ...json, records: { 1: { name: "window.open", fields: [field] } } }), /record "window\.open" is not llmprof's own\./],
  [(json) => ({ ...json, records: { 10: { name: "llama/calls.load", fields: [field] } } }), /is not the one that this llmprof knows/],
  [(json) => ({ ...json, records: { 10: { name: "llama/calls.constructor", fields: [] } } }), /is not the one that this llmprof knows/],
  [(json) => ({ ...json, records: { 10: { name: "files/access.open", fields: [] } } }), /is not the one that this llmprof knows/],
  [(json) => ({ ...json, records: { 10: { name: "__proto__", fields: [] } } }), /is not the one that this llmprof knows/],
];

Deno.test("recordings: a stream's first line that is wrong is told with the stream's name", () => {
  const bytes = whole.bytes.get("llama")!;
  const end = bytes.indexOf(10);
  const description = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  for (const [change, said] of wrongDescriptions) {
    const line = new TextEncoder().encode(JSON.stringify(change(description)));
    const error = caught(() => replayed(whole.with("llama", new Uint8Array([...line, ...bytes.subarray(end)]))));
    assert.match(error.message, /^Cannot read the recording memory\.llmprof\/llama\.lines: /);
    assert.match(error.message, said);
  }
});

Deno.test("recordings: facts of another shape are lines that cannot be read", () => {
  const sites = (told: string) => `{"fact":"program","stream":"x","sites":[{"probe":"p","site":"s","cost":"nop","records":[],${told}}]}`;
  const facts = [
    "null",
    "5",
    "[]",
    "{}",
    '{"fact":"__proto__"}',
    '{"fact":"constructor"}',
    '{"fact":["note"],"text":""}',
    '{"fact":"note"}',
    '{"fact":"note","text":5}',
    '{"fact":"table","symbol":"GGML_OP_NAME","file":"x","names":"MUL"}',
    '{"fact":"table","symbol":"GGML_OP_NAME","file":"x","names":[1]}',
    '{"fact":"program","stream":"x","sites":null}',
    '{"fact":"program","stream":"x","sites":[{"probe":"p"}]}',
    sites('"among":1.5'),
    sites('"functions":{"nop":"f"}'),
    sites('"functions":[["f"]]'),
    sites('"perOperator":"1"'),
    '{"fact":"code","pid":1,"ranges":[],"functions":[{"at":1,"bytes":-1,"name":"f"}]}',
    '{"fact":"code","pid":1,"ranges":[{"at":1,"bytes":1}],"functions":[]}',
    '{"fact":"mapped","pid":1,"files":[{"at":1,"bytes":1,"offset":0,"dev":1,"inode":1,"file":"x","isCode":"yes"}]}',
    '{"fact":"skipped","stream":"ggml","count":"3"}',
    '{"fact":"skipped","stream":"ggml","count":-3}',
    '{"fact":"discarded","stream":"ggml","count":1e999}',
    '{"fact":"exit","pid":1,"code":null,"signal":null}',
    '{"fact":"cpu","bpftrace":"1","llmprof":1}',
    '{"__proto__":{"fact":"note","text":"inherited"}}',
  ];
  const base = BigInt(JSON.parse(whole.head).clock.base);
  const lines = facts.map((fact, i) =>
    `10 ${base + BigInt(i)} 0 ${[...new TextEncoder().encode(fact)].map((b) => b.toString(16).padStart(2, "0")).join(" ")}\n`
  );
  const source = whole.with("host", new Uint8Array([...whole.bytes.get("host")!, ...new TextEncoder().encode(lines.join(""))]));
  assert.equal(undecodable(source), facts.length);
  assert.equal(replayed(source).summary.events.undecodable, facts.length);
});

/** Puts something in the place of a file of the recording, and returns what `export` says. */
async function exportedWith(name: string, place: (path: string) => void): Promise<string> {
  using folder = temporary();
  const path = await demoFolder(folder.path);
  Deno.removeSync(`${path}/${name}`);
  place(`${path}/${name}`);
  const { code, stderr } = await runLlmprof(["export", path, "--no-output"], { timeoutMilliseconds: 20_000 });
  assert.equal(code, 1, stderr);
  assert.match(stderr, new RegExp(`^Cannot read the recording .*/${name.replace(".", "\\.")}: its? .*\\nName a directory`));
  return stderr;
}

for (const name of ["header.json", "llama.lines"]) {
  Deno.test(`recordings: ${name} may be a link, a FIFO, a folder or a device: only a file is read`, async () => {
    assert.match(await exportedWith(name, (path) => Deno.symlinkSync("/etc/passwd", path)), /it is a link/);
    assert.match(await exportedWith(name, (path) => Deno.mkdirSync(path)), /it is a folder/);
    const make = (program: string, ...args: string[]) => new Deno.Command(program, { args }).outputSync();
    assert.match(await exportedWith(name, (path) => void make("mkfifo", path)), /it is a FIFO/);
    if (Deno.uid() === 0) assert.match(await exportedWith(name, (path) => void make("mknod", path, "c", "1", "5")), /it is a device/);
  });
}

Deno.test("recordings: a header of 100 MB is refused before it is read", async () => {
  assert.match(await exportedWith("header.json", (path) => sparse(path, 100e6)), /it is longer than 1048576 bytes\./);
});

Deno.test("recordings: a first line without an end is refused, whatever its length", async () => {
  assert.match(await exportedWith("llama.lines", (path) => sparse(path, 10e9)), /its first line has no end\./);
});

Deno.test("recordings: a stream that goes on for a gigabyte without a line end is one line that cannot be read, and takes no memory", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path);
  sparse(`${path}/gate.lines`, 1e9);
  const { code, stdout, stderr, milliseconds } = await runLlmprof(["export", path, "--no-output", "--summary", "json"], {
    timeoutMilliseconds: 60_000,
  });
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).events.undecodable, 1, `${milliseconds} ms`);
});

/** Makes a file longer without taking room on the disk. */
function sparse(path: string, length: number): void {
  using file = Deno.openSync(path, { write: true, create: true });
  file.truncateSync(length);
}

Deno.test("recordings: a replay of one that was cut says so where a person reads it", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path);
  const bytes = Deno.readFileSync(`${path}/llama.lines`);
  Deno.writeFileSync(`${path}/llama.lines`, bytes.subarray(0, bytes.length >> 1));
  const { code, stdout, stderr } = await runLlmprof(["export", path, "--no-output", "--summary", "json"]);
  assert.equal(code, 0, stderr);
  assert.match(JSON.parse(stdout).notes.join(), /llama: cut off \d+\.\d{3} s after counting began: what it would have told later is missing/);
});
