/** llmprof has few rights, gives up more of them before it reads what others wrote, and hands nothing of its surroundings on. */
import assert from "node:assert/strict";
import denoJson from "../../deno.json" with { type: "json" };
import { demoFolder } from "../cli/demo_recording.ts";
import { mustRun, run } from "../harness/command.ts";
import { kernelTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";

const rights = ["--allow-read", "--allow-write", "--allow-env", "--allow-run=setpriv,cat,dd,find"];

Deno.test("permissions: the task grants reading, writing, the environment and four programs, and nothing else", () => {
  const [own, ...more] = denoJson.tasks.llmprof.split(" main.ts");
  assert.deepEqual([own!.split(" ").filter((word) => word.startsWith("--allow") || /^-[A-Z]/.test(word)), more], [rights, [""]]);
  // The demo is that task, with words behind it.
  assert.match(denoJson.tasks.demo, /^deno task --quiet llmprof demo /);
  assert.deepEqual(llmprof.filter((word) => word.startsWith("--allow") || word === "-A"), rights);
});

/** With less than the task grants. */
function without(right: string, ...more: string[]): string[] {
  return [...llmprof.filter((word) => !word.startsWith(`--allow-${right}`)).flatMap((word) => word === "--no-prompt" ? [word, ...more] : [word])];
}

Deno.test("permissions: what reads recordings works without the right to start anything", async () => {
  using folder = temporary();
  const recording = await demoFolder(folder.path);
  const commands = [
    ["export", recording, "-o", folder.file("a.pftrace")],
    ["operators", "--from", recording, "--no-output"],
    ["coldstart", "--from", recording, "--no-output"],
    ["demo", "--no-output"],
    ["--help"],
    ["completions", "bash"],
  ];
  for (const args of commands) {
    const { code, stderr } = await run([...without("run"), ...args]);
    assert.equal(code, 0, `${args[0]}: ${stderr}`);
  }
});

Deno.test("permissions: no command needs the network, foreign functions or facts of the system", async () => {
  using folder = temporary();
  const recording = await demoFolder(folder.path);
  const denied = without("none", "--deny-net", "--deny-ffi", "--deny-sys");
  for (
    const args of [["demo", "--no-output"], ["export", recording, "-o", folder.file("a.json")], ["operators", "--from", recording, "--no-output"], [
      "--help",
    ], ["completions", "zsh"]]
  ) {
    const { code, stderr } = await run([...denied, ...args]);
    assert.equal(code, 0, `${args[0]}: ${stderr}`);
  }
  const doctor = await run([...denied, "doctor"]);
  assert.ok([0, 3].includes(doctor.code) && doctor.stdout.length > 100, doctor.stderr);
});

for (
  const [what, file, call] of [
    ["a recording", "replay", 'replayRecording("/no/recording", { outputs: [], quiet: true }, context)'],
    ["the demo's recording", "demo", "demo({ outputs: [], quiet: false }, context)"],
    ["what --snapshots wrote", "report_snapshots", 'reportSnapshots(["/etc/passwd"], { summary: "json", quiet: true }, context)'],
    ["a library", "list_calls", 'listCalls(["/etc/passwd"], "json", context)'],
  ] as const
) {
  Deno.test(`permissions: when the first byte of ${what} is read, nothing can be started any more`, async () => {
    // Who reads is asked while it opens a file; the demo opens none, and says what it does before.
    const script = `
      import { RegularFile } from ${JSON.stringify(`file://${top}/lib/machine/regular_file.ts`)};
      import { RecordingFolder } from ${JSON.stringify(`file://${top}/lib/timeline/recording_source.ts`)};
      import * as command from ${JSON.stringify(`file://${top}/lib/commands/${file}.ts`)};
      const start = () => { try { new Deno.Command("cat").outputSync(); return "started"; } catch (error) { return error.name; } };
      const seen = [start()];
      const ask = () => { seen.push(start()); throw new Error("enough"); };
      RecordingFolder.prototype.header = RegularFile.open = Deno.open = Deno.openSync = ask;
      const context = { terminal: { err: ask, out() {} } };
      await command.${call}.catch(() => {});
      console.log(seen.join(" "));`;
    const words = llmprof.map((word) => word.endsWith("main.ts") ? "-" : word);
    assert.equal((await mustRun(words, { stdin: script, cwd: top })).stdout, "started NotCapable\n");
  });
}

kernelTest("permissions: bpftrace gets an environment of llmprof's own, whatever the caller's holds", { root: true }, async () => {
  using folder = temporary();
  const fake = folder.file("bpftrace");
  // Says what it was given and ends; the version is one that llmprof works with.
  Deno.writeTextFileSync(fake, `#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ >> ${folder.file("environment")}\necho "bpftrace v0.17.0"\n`);
  Deno.chmodSync(fake, 0o755);
  const env = {
    LD_PRELOAD: "",
    LD_LIBRARY_PATH: "/none",
    BPFTRACE_STRLEN: "9",
    BPFTRACE_VMLINUX: "/none",
    SECRET: "geheimnis",
    PERL5OPT: "-x",
    BASH_ENV: "/none",
    BCC_SYMFS: "/none",
  };
  const { code } = await run([...llmprof, "coldstart", "--bpftrace", fake, "--no-output", "--", "true"], { env });
  assert.equal(code, 1);
  const given = Deno.readTextFileSync(folder.file("environment")).trimEnd().split("\n").map((line) => line.split("=")[0]!);
  assert.ok(given.length > 4);
  const allowed = /^(PATH|LC_ALL|PWD|BCC_SYMFS|BPFTRACE_(PERF_RB_PAGES|MAP_KEYS_MAX|MAX_MAP_KEYS|MAX_STRLEN|STRLEN)|SHLVL|_|OLDPWD)$/;
  assert.deepEqual(given.filter((name) => !allowed.test(name)), []);
  assert.doesNotMatch(Deno.readTextFileSync(folder.file("environment")), /BPFTRACE_STRLEN=9|BCC_SYMFS=\/none/);
});
