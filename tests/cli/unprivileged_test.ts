import assert from "node:assert/strict";
import { mustRun, run } from "../harness/command.ts";
import { commandLine, llmprof, llmprofForAnybody } from "../harness/llmprof.ts";
import { top } from "../harness/places.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { demoFolder } from "./demo_recording.ts";

/** llmprof as somebody who may neither trace nor read root's folders: as root under another uid, as anybody else as it is. */
async function asNobody(folder: Temporary): Promise<string[]> {
  if (Deno.uid() !== 0) return [...llmprof];
  return ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", ...await llmprofForAnybody(folder)];
}

Deno.test("without root: the demo works, tracing says how, and mistakes come before that", async () => {
  using folder = temporary();
  const command = await asNobody(folder);
  const llmprof = (...args: string[]) => run([...command, ...args], { cwd: folder.path });

  const demo = await llmprof("demo", "-o", "demo.json");
  assert.equal(demo.code, 0, demo.stderr);
  assert.ok(JSON.parse(Deno.readTextFileSync(folder.file("demo.json"))));

  const tracing = await llmprof("operators", "--pid", String(Deno.pid), "--no-output");
  assert.equal(
    tracing.stderr,
    `Tracing needs root: an ordinary user. The kernel lets only root place probes.\nRun: sudo llmprof operators --pid ${Deno.pid} --no-output\n`,
  );
  for (const [name, last] of [["operators", "--no-output"], ["sched", "--no-output"], ["sched", "--dry-run"]] as const) {
    const words = [name, "--wait", "--comm", "no-such-name", last];
    const waiting = await run([...command, ...words], { cwd: folder.path, timeoutMilliseconds: 60_000 });
    assert.match(waiting.stderr, new RegExp(`^Tracing needs root: .*\\nRun: sudo llmprof ${words.join(" ")}\\n$`, "m"));
    assert.equal(waiting.code, 3);
  }
  const set = { LLMPROF_BPFTRACE: "/no/b pf", LLMPROF_QUIET: "1", LLMPROF_OF_NOTHING: "x" };
  const withVariables = await run([...command, "sched", "--all", "--no-output"], { cwd: folder.path, env: set });
  assert.match(withVariables.stderr, /^Run: sudo LLMPROF_BPFTRACE='\/no\/b pf' LLMPROF_QUIET=1 llmprof sched --all --no-output$/m);
  const doctor = await llmprof("doctor");
  assert.match(doctor.stdout, /^ +root +missing +an ordinary user$/m);
  assert.deepEqual([tracing.code, withVariables.code, doctor.code], [3, 3, 3]);

  for (
    const mistake of [
      "operators --pid 4194305",
      "operators --pid 1 -o /a.json",
      "operators -- no-such-program",
      "sched --all --snapshots /a.jsonl",
      "gpu --all --no-output --cuda-jsonl /a.jsonl",
    ]
  ) {
    const { code, stderr } = await llmprof(...mistake.split(" "));
    assert.doesNotMatch(stderr, /root/);
    assert.equal(code, 2, stderr);
  }
});

Deno.test("without root: a recording that is closed to who reads it says so, whichever of its files is", async () => {
  using folder = temporary();
  const command = await asNobody(folder), recording = await demoFolder(folder.path);
  const [stream] = [...Deno.readDirSync(recording)].map(({ name }) => name).filter((name) => name.endsWith(".lines"));
  for (
    const [closed, mode, told] of [
      [recording, 0, `${recording}/header.json`],
      [`${recording}/header.json`, 0, `${recording}/header.json`],
      [recording, 0o111, recording],
      [`${recording}/${stream}`, 0, `${recording}/${stream}`],
    ] as const
  ) {
    const before = Deno.statSync(closed).mode! & 0o777;
    Deno.chmodSync(closed, mode);
    const { code, stderr } = await run([...command, "export", recording, "--no-output", "--summary", "text"], { cwd: folder.path });
    Deno.chmodSync(closed, before);
    assert.match(stderr, /^Cannot read the recording (.*): permission denied\.\nName a directory /i);
    assert.deepEqual([stderr.split(": ")[0], code], [`Cannot read the recording ${told}`, 1]);
  }
});

Deno.test("what reads a recording gives up the right to start programs first", async () => {
  const script = `
    import { replayRecording } from ${JSON.stringify(`file://${top}/lib/commands/replay.ts`)};
    const state = async () => (await Deno.permissions.query({ name: "run", command: "cat" })).state;
    const before = await state();
    await replayRecording("/no/recording", { outputs: [], quiet: true }, {}).catch(() => {});
    console.log(before, await state());`;
  assert.equal((await mustRun(commandLine(Deno.execPath(), "-"), { stdin: script, cwd: top })).stdout, "granted prompt\n");
});
