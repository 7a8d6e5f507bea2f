import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { temporary } from "../../tests/harness/temporary.ts";
import { testProbe, testSchema } from "../../tests/harness/test_probe.ts";
import { life } from "../../probes/process/life.ts";
import { splitBase } from "../events/time.ts";
import type { Header } from "../timeline/header.ts";
import { RecordingFolder } from "../timeline/recording_source.ts";
import { replay } from "../timeline/replay.ts";
import { namedOutputs } from "./named_outputs.ts";
import { Outputs } from "./outputs.ts";

const header: Header = {
  schemaVersion: 1,
  llmprof: "0.1.0",
  command: "operators",
  options: {},
  clock: { name: "boottime", base: 0n, realtimeOffset: 0n },
  target: { pid: 100, argv: ["node"], started: false },
  host: {},
  bpftrace: null,
};

Deno.test("outputs: a recording is full while what is being attached still has room, and can be read; without one, there is no end", async () => {
  using folder = temporary();
  const path = folder.file("crashes.llmprof");
  for (const [paths, ends] of [[[path], [240]], [[folder.file("crashes.json")], []]] as const) {
    const outputs = await Outputs.prepare({ outputs: paths }, null, () => assert.fail(), false, []);
    const { recording } = outputs.begin(header);
    const full: number[] = [];
    let streams = 1;
    void outputs.full.then(() => full.push(streams));
    for (; streams <= 256; streams++) {
      recording?.stream(testSchema(`s-${streams}`)).close();
      await Promise.resolve();
    }
    outputs.finish([]);
    assert.deepEqual(full, ends, String(paths));
  }
  const find = (name: string) => [testProbe, life].find((probe) => probe.name === name);
  const { timeline } = replay(new RecordingFolder(path), find, () => ({ base: splitBase(0n), out: () => {} }));
  assert.equal(timeline.tallies.size, 256);
});

Deno.test("outputs: of two runs that begin in one second each has a file of its own, where nobody has named one", async () => {
  using folder = temporary();
  const path = folder.file("llmprof-io-20260131-142233.pftrace");
  const prepare = (isDefault: boolean) => Outputs.prepare({ outputs: [path], isDefault }, null, () => assert.fail(), false, []);
  const runs = [await prepare(true), await prepare(true)];
  const shown = ({ files }: Outputs) => files.map(({ shown }) => shown);
  assert.deepEqual(runs.map(shown), [[path], [folder.file("llmprof-io-20260131-142233-2.pftrace")]]);
  for (const outputs of runs) outputs.begin(header);
  for (const outputs of runs) outputs.finish([]);
  assert.equal([...Deno.readDirSync(folder.path)].length, 2);
  const typed = await prepare(false);
  assert.deepEqual(shown(typed), [path]);
  typed.discard();
});

Deno.test("outputs: of a drawing in which there is no graph that is told", async () => {
  using folder = temporary();
  const paths = ["a.dot", "a.mmd", "a.graph.json", "a.json"].map((name) => folder.file(name));
  const outputs = await Outputs.prepare({ outputs: paths }, null, () => assert.fail(), false, []);
  outputs.begin(header);
  outputs.finish([]);
  const none = "No graph was seen whole.";
  assert.deepEqual(outputs.written.map(({ empty }) => empty), [none, none, none, undefined]);
});

Deno.test("outputs: snapshots are added to those that are there, and to nothing else", async () => {
  using folder = temporary();
  const path = folder.file("io.jsonl"), named = (path: string) => namedOutputs({ snapshots: { path, flushEvery: 1, fsync: false } });
  const prepare = (path: string) => Outputs.prepare({ outputs: [] }, null, () => assert.fail(), false, named(path));
  Deno.writeTextFileSync(path, '{"of yesterday":1}\n');
  const outputs = await prepare(path);
  outputs.begin(header);
  outputs.finish([]);
  assert.equal(Deno.readTextFileSync(path), '{"of yesterday":1}\n');
  for (const [name, content] of [["model.gguf", "GGUF"], ["io.jsonl.gz", "{}\n"]] as const) {
    Deno.writeTextFileSync(folder.file(name), content);
    await assert.rejects(prepare(folder.file(name)), { exitCode: 2, why: "It begins with no line of JSON, and lines are added to what is there." });
    assert.equal(Deno.readTextFileSync(folder.file(name)), content);
  }
  const packed = gzipSync('{"of yesterday":1}\n'), cut = folder.file("cut.jsonl.gz"), whole = folder.file("whole.jsonl.gz");
  Deno.writeFileSync(cut, packed.subarray(0, 20));
  const why = "It cannot be unpacked to its end, and lines behind that could not be read.";
  await assert.rejects(prepare(cut), { exitCode: 2, why, next: "Give it another name (mv), or choose another path with --snapshots FILE." });
  assert.equal(Deno.statSync(cut).size, 20);
  Deno.writeFileSync(whole, packed);
  (await prepare(whole)).discard();
  (await prepare(folder.file("new.jsonl.gz"))).discard();
});
