import assert from "node:assert/strict";
import { tell } from "../../tests/harness/decoding.ts";
import { printed } from "../../tests/harness/lines.ts";
import { smallDisk } from "../../tests/harness/small_disk.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { bytes, testProbe, testSchema } from "../../tests/harness/test_probe.ts";
import { life } from "../../probes/process/life.ts";
import { splitBase } from "../events/time.ts";
import type { Header } from "./header.ts";
import { beatLine, factLine, hostSchema } from "./host.ts";
import { pack, unpack } from "./packed_recording.ts";
import { RecordingWriter } from "./recording.ts";
import { RecordingFolder, type RecordingSource } from "./recording_source.ts";
import { replay } from "./replay.ts";
import { Timeline } from "./timeline.ts";

const base = 9_700_000_000_000_000n;
const header: Header = {
  schemaVersion: 1,
  llmprof: "0.1.0",
  command: "operators",
  options: { tokens: 3 },
  clock: { name: "boottime", base, realtimeOffset: -5n },
  target: { pid: 100, argv: ["node", "engine.mjs"], started: true },
  root: 100,
  host: { kernel: "6.18", governor: null, cpus: 2 },
  bpftrace: { path: "/usr/bin/bpftrace", version: "0.17.0" },
};

/** Two programs that know of each other only by time, and llmprof's own stream: 3000 hits each, in blocks that end anywhere. */
function* blocks(): Generator<[stream: string, Uint8Array]> {
  const texts: Record<string, string> = { a: "", b: "", host: factLine({ fact: "note", text: "begun" }, base) };
  for (let i = 0; i < 3000; i++) {
    const at = base + BigInt(i * 10);
    texts.a += `10 ${at} 100/100 ${i}\n` + (i % 100 === 99 ? `@sum: ${i}\n(9, ${at})\n@n: ${i + 1}\n` : "");
    texts.b += `10 ${at} 100/101 ${i}\n` + (i % 7 === 6 ? `(9, ${at})\n` : "");
    if (i % 50 === 0) texts.host += beatLine(at);
  }
  const all = Object.entries(texts).map(([stream, text]) => [stream, bytes(printed(text))] as const);
  for (let from = 0; all.some(([, text]) => from < text.length); from += 777) {
    for (const [stream, text] of all) if (from < text.length) yield [stream, text.subarray(from, from + 777)];
  }
}

function schemaOf(stream: string) {
  return stream === "host" ? hostSchema : testSchema(stream, 20);
}

const find = (name: string) => [testProbe, life].find((probe) => probe.name === name);

function options(spans: string[]) {
  return { base: splitBase(base), out: (span: Parameters<typeof tell>[0]) => void spans.push(tell(span)) };
}

/** What a live run would have shown, while it was being recorded. */
function record(path: string): string[] {
  const writer = RecordingWriter.create(path, header);
  const spans: string[] = [];
  const timeline = new Timeline({ ...options(spans), find });
  const streams = new Map(["b", "host", "a"].map((name) => [name, [timeline.add(schemaOf(name)), writer.stream(schemaOf(name))] as const]));
  for (const [stream, block] of blocks()) for (const end of streams.get(stream)!) end.write(block);
  for (const ends of streams.values()) for (const end of ends) end.close();
  timeline.finish();
  return spans;
}

function replayed(source: RecordingSource): string[] {
  const spans: string[] = [];
  replay(source, find, () => options(spans));
  return spans;
}

Deno.test("recording: a replay gives what the live run gave, from a folder and from what was packed", async () => {
  using folder = temporary();
  const path = folder.file("run.llmprof");
  const live = record(path);
  assert.ok(live.length > 6000 && live.some((span) => span.includes("begun")));
  assert.deepEqual(replayed(new RecordingFolder(path)), live);
  const text = await pack(new RecordingFolder(path));
  assert.ok(text.split("\n").every((line) => line.length <= 120));
  const unpacked = await unpack("demo", text);
  assert.deepEqual(unpacked.streams(), ["a", "b", "host"]);
  assert.deepEqual(replayed(unpacked), live);
});

Deno.test("recording: the header comes back as it was, clocks exact", () => {
  using folder = temporary();
  const path = folder.file("run.llmprof");
  record(path);
  const { header: read, timeline } = replay(new RecordingFolder(path), find, () => options([]));
  assert.deepEqual(read, header);
  assert.equal(timeline.tallies.get("a")!.received, 3000);
});

Deno.test("recording: a directory that exists is never written into", () => {
  using folder = temporary();
  assert.throws(() => RecordingWriter.create(folder.path, header), Deno.errors.AlreadyExists);
});

Deno.test({
  name: "recording: a stream that the disk has no room for leaves no file, which would keep the others from being read",
  ignore: Deno.uid() !== 0,
  fn() {
    using disk = smallDisk(16);
    const path = disk.file("run.llmprof");
    const writer = RecordingWriter.create(path, header);
    writer.stream(testSchema("a")).close();
    // The rest of it.
    assert.throws(() => Deno.writeFileSync(disk.file("full"), new Uint8Array(16 << 10)));
    assert.throws(() => writer.stream(testSchema("b")));
    assert.deepEqual([...Deno.readDirSync(path)].map(({ name }) => name).sort(), ["a.lines", "header.json"]);
  },
});

Deno.test("recording: cut anywhere by the death of its writer, it replays to there", () => {
  using folder = temporary();
  const path = folder.file("run.llmprof");
  const live = new Set(record(path));
  for (const stream of ["a", "host"]) {
    const whole = Deno.readFileSync(`${path}/${stream}.lines`);
    const first = whole.indexOf(10) + 1;
    for (const length of [first, first + 1, first + 40, first + 1000, whole.length - 1]) {
      Deno.writeFileSync(`${path}/${stream}.lines`, whole.subarray(0, length));
      const spans = replayed(new RecordingFolder(path));
      // Nothing is made up: a line that was cut is a mark.
      assert.deepEqual(spans.filter((span) => !live.has(span) && !/^mark (undecodable|lost|note .*: cut off)/.test(span)), [], `${stream} ${length}`);
    }
    Deno.writeFileSync(`${path}/${stream}.lines`, whole);
  }
});

/** Says what is wrong with a recording whose file `name` holds `text` instead. */
function complaint(name: string, text: string | null): { what: string; why: string; exitCode: number } {
  using folder = temporary();
  const path = folder.file("run.llmprof");
  RecordingWriter.create(path, header).stream(testSchema("a")).close();
  if (text === null) Deno.removeSync(`${path}/${name}`);
  else Deno.writeTextFileSync(`${path}/${name}`, text);
  try {
    replayed(new RecordingFolder(path));
  } catch (error) {
    return error as never;
  }
  throw new Error("nothing is wrong with it");
}

Deno.test("recording: what is no recording is refused by name, reason and exit code 1", () => {
  const good = JSON.stringify({ ...header, clock: { ...header.clock, base: "1", realtimeOffset: "2" } });
  const changed = (change: object) => JSON.stringify({ ...JSON.parse(good), ...change });
  assert.match(complaint("header.json", null).why, /no header\.json/);
  assert.equal(complaint("header.json", "{").why, "it is not JSON.");
  assert.equal(complaint("header.json", "null").why, "it holds no object.");
  assert.match(complaint("header.json", changed({ schemaVersion: 2 })).why, /schemaVersion is 2/);
  assert.match(complaint("header.json", changed({ command: 5 })).why, /'command' is no text/);
  assert.match(complaint("header.json", changed({ host: null })).why, /'host' is no object/);
  assert.match(complaint("header.json", changed({ clock: null })).why, /'clock' is no object/);
  assert.match(
    complaint("header.json", changed({ clock: { name: "boottime", base: "12", realtimeOffset: "x" } })).why,
    /'clock\.realtimeOffset' is no integer/,
  );
  assert.match(complaint("a.lines", "").why, /ends before its first line does/);
  assert.match(complaint("a.lines", "{ }").why, /ends before its first line does/);
  assert.match(complaint("a.lines", "no schema\n10 1 1\n").why, /no stream description/);
  const { exitCode, what } = complaint("header.json", null);
  assert.deepEqual([exitCode, /run\.llmprof/.test(what)], [1, true]);
});

Deno.test("recording: where another folder has taken its place, nothing is written there", () => {
  using folder = temporary();
  const path = folder.file("run.llmprof"), other = folder.file("other");
  const writer = RecordingWriter.create(path, header, { uid: Deno.uid()!, gid: Deno.gid()! });
  writer.stream(testSchema("a")).close();
  Deno.renameSync(path, `${path}.away`);
  Deno.mkdirSync(other);
  Deno.symlinkSync(other, path);
  assert.throws(() => writer.stream(testSchema("b")), /Another folder has taken its place/);
  assert.throws(() => writer.finish(), /Another folder has taken its place/);
  assert.deepEqual([...Deno.readDirSync(other)], []);
});
