import assert from "node:assert/strict";
import { join } from "node:path";
import { oldestBpftrace, parseBpftrace } from "../lib/machine/bpftrace.ts";
import { preflight } from "../lib/machine/needs/needs.ts";
import { dialectOf } from "../lib/session/programs.ts";
import { capable } from "./harness/fake_machine.ts";
import { top } from "./harness/places.ts";

const folder = join(top, "tests", "fixtures", "bpftrace");

/** What follows from what each version says of itself; README.md beside the texts tells where they come from. */
const versions = {
  "0.16": { version: [0, 16, 0], offsets: false, ringbuf: false, uprobeMulti: false },
  "0.17": { version: [0, 17, 0], offsets: false, ringbuf: false, uprobeMulti: false },
  "0.18": { version: [0, 18, 1], offsets: false, ringbuf: false, uprobeMulti: false },
  "0.19": { version: [0, 19, 1], offsets: true, ringbuf: true, uprobeMulti: false },
  "0.20": { version: [0, 20, 2], offsets: false, ringbuf: true, uprobeMulti: true },
  "0.21": { version: [0, 21, 3], offsets: true, ringbuf: true, uprobeMulti: false },
  "0.22": { version: [0, 22, 1], offsets: true, ringbuf: true, uprobeMulti: true },
  "0.23": { version: [0, 23, 2], offsets: true, ringbuf: true, uprobeMulti: true },
  "0.24": { version: [0, 24, 2], offsets: false, ringbuf: true, uprobeMulti: true },
  "0.25": { version: [0, 25, 0], offsets: true, ringbuf: true, uprobeMulti: true },
  "0.26": { version: [0, 26, 1], offsets: true, ringbuf: true, uprobeMulti: false },
  "0.27": { version: [0, 27, 1], offsets: true, ringbuf: true, uprobeMulti: true },
} as const;

const machine = capable(undefined, ["syscalls:sys_enter_kill"]);

for (const [name, { version, ...features }] of Object.entries(versions)) {
  Deno.test(`bpftrace ${name}: version, features and dialect follow from what it says of itself`, () => {
    const [first, ...info] = Deno.readTextFileSync(join(folder, `${name}.txt`)).split("\n");
    const bpftrace = parseBpftrace("/usr/bin/bpftrace", `${first}\n`, info.join("\n"), true)!;
    assert.deepEqual([bpftrace.version, bpftrace.features], [version, { symbols: true, ...features, traceableList: false }]);
    assert.equal(dialectOf({ ...machine, bpftrace }).perCpuBuffers, features.ringbuf ? 0 : machine.cpus);
    assert.deepEqual(preflight({ ...machine, bpftrace }, ["llmprof"]), []);
    // A dry run needs no root, and without root no bpftrace tells its features.
    const untold = parseBpftrace("/usr/bin/bpftrace", `${first}\n`, "")!;
    assert.equal(dialectOf({ ...machine, bpftrace: untold }).perCpuBuffers, features.ringbuf ? 0 : machine.cpus);
  });
}

Deno.test("bpftrace: there is a text of every version from the oldest that works on", () => {
  const texts = [...Deno.readDirSync(folder)].map(({ name }) => /^(0\.\d+)\.txt$/.exec(name)?.[1]).filter((name) => name !== undefined).sort();
  assert.deepEqual(texts, Object.keys(versions).sort());
  assert.equal(texts[0], oldestBpftrace.join("."));
});
