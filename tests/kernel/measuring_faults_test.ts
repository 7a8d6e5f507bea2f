/** Whatever ends llmprof while it measures the machine: no file of what is measured with stays. */
import assert from "node:assert/strict";
import { measuringText } from "../../lib/session/status.ts";
import type { Bpftrace } from "../harness/bpftraces.ts";
import { start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { aWhile, needs, nothing } from "./fault_tests.ts";
import { faultyRun } from "./faulty_run.ts";
import { onProcessorNs, row, treeFrom, until } from "./processes.ts";

/** Who else runs llmprof or bpftrace has files in these folders, too: `$0` has others for this one. */
const apart = 'mount --bind "$0/shm" /dev/shm && mount --bind "$0/run" /run && exec env TMPDIR="$0/tmp" "$@"';

for (const [index, signal] of (["SIGINT", "SIGKILL"] as const).entries()) {
  const test = async ({ path: bpftrace }: Bpftrace) => {
    using folder = temporary();
    const places = ["shm", "run", "tmp"];
    for (const place of places) Deno.mkdirSync(folder.file(place));
    // Programs are started only from where nobody else can put another one.
    Deno.chmodSync(folder.path, 0o755);
    const files = () => places.flatMap((place) => [...Deno.readDirSync(folder.file(place))].map(({ name }) => `${place}/${name}`));
    const command = [...llmprof, "doctor", "--bpftrace", bpftrace, "--calibrate"];
    await using doctor = start(["unshare", "--mount", "sh", "-c", apart, folder.path, ...command]);
    await doctor.saw(measuringText);
    const kinds = [/^tmp\/llmprof-calibration-/, /^run\/llmprof-/];
    await until("something is measured", () => kinds.every((kind) => files().some((name) => kind.test(name))));
    await aWhile();
    doctor.kill(signal);
    assert.equal((await doctor.finished()).signal, signal);
    await until("nothing is left", () => files().length === 0);
  };
  sampledTest(index, `doctor --calibrate is ended by ${signal} and leaves no file`, needs, test);
}

const calibrating = async ({ path: bpftrace }: Bpftrace) => {
  await using run = await faultyRun({ bpftrace, by: "pid", flags: ["--calibrate"] });
  await run.llmprof.saw(measuringText);
  const programs = () => treeFrom(run.llmprof.pid).filter(({ name }) => name === "llmprof-hits");
  await until("it measures", () => programs().length > 0);
  await aWhile();
  const used = new Map(programs().map(({ pid }) => [pid, 0]));
  run.typed("SIGINT");
  await until("nothing is measured any more", () => {
    const left = [...used.keys()].filter((pid) => row(pid) !== undefined);
    for (const pid of left) used.set(pid, onProcessorNs(pid) ?? used.get(pid)!);
    return left.length === 0;
  });
  // They run one after another, for a second or more each.
  assert.ok(Math.min(...used.values()) < 0.1e9, `the last did not come to its turn: ${[...used.values()]} ns`);
  await run.end(nothing);
  assert.doesNotMatch(run.llmprof.stderr(), /A hit .* costs/, "what was not measured to its end");
};
sampledTest(0, "Ctrl-C while it measures the machine ends that", needs, calibrating);
