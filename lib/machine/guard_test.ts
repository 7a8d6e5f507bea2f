import assert from "node:assert/strict";
import { until } from "../../tests/harness/until.ts";
import { dirname } from "node:path";
import { type Child, runChild, spawnChild } from "./child.ts";
import { startGuard } from "./guard.ts";
import { ReaderFiles } from "./reader_files.ts";

const files = new ReaderFiles();

/** A program of this run alone: another run of these tests has guards too, and they would continue whoever maps the same file. */
const sleeper = `${await Deno.makeTempDir()}/sleeper`;
await Deno.copyFile("/bin/sleep", sleeper);
globalThis.addEventListener("unload", () => Deno.removeSync(dirname(sleeper), { recursive: true }));
/** A shell by the name of a program that stops itself with what it has started. */
const runuser = `${dirname(sleeper)}/runuser`;
Deno.symlinkSync("/bin/sh", runuser);
const patterns = ["*/of nobody", `*${sleeper}`];

async function stateOf(pid: number): Promise<string | null> {
  return /^State:\s*(\w)/m.exec(await files.text(`/proc/${pid}/status`) ?? "")?.[1] ?? null;
}

async function stoppedSleeper(): Promise<Child> {
  const child = spawnChild({ program: sleeper, args: ["60"] });
  await until(async () => (await files.text(`/proc/${child.pid}/comm`)) === "sleeper\n");
  child.kill("SIGSTOP");
  assert.ok(await until(async () => await stateOf(child.pid) === "T"));
  return child;
}

/**
 * Starts a program of the shell's that nobody is the parent of: beside this test, others of its process have guards, which keep this one from whatever that
 * process has started. Returns its number.
 */
async function orphan(script: string, argument: string): Promise<number> {
  const { stdout } = await runChild({ program: "sh", args: ["-c", 'sh -c "$@" > /dev/null 2>&1 & echo $!', "sh", script, argument] });
  return Number(stdout);
}

async function signal(name: "STOP" | "KILL", ...pids: number[]): Promise<void> {
  await runChild({ program: "sh", args: ["-c", `kill -${name} ${pids.join(" ")}`] });
}

async function end(...children: Child[]): Promise<void> {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map((child) => child.status));
}

Deno.test("guard: an orderly end leaves everything as it is", async () => {
  const folder = Deno.makeTempDirSync();
  const guard = await startGuard(patterns, folder);
  const stopped = await stoppedSleeper();
  await guard.stopped(stopped.pid);
  await guard.close();
  assert.equal(await stateOf(stopped.pid), "T");
  Deno.removeSync(folder);
  await guard.stopped(1);
  await end(stopped);
});

Deno.test("guard: who is to go on and stands goes on at once, and is forgotten", async () => {
  const guard = await startGuard(patterns);
  const stopped = await stoppedSleeper();
  await guard.stopped(stopped.pid);
  await guard.letGo(stopped.pid);
  assert.ok(await until(async () => await stateOf(stopped.pid) === "S"));
  stopped.kill("SIGSTOP");
  guard.unheard();
  await guard.close();
  assert.equal(await stateOf(stopped.pid), "T");
  await end(stopped);
});

Deno.test("guard: who has started a process that is to go on, and stands as well, goes on with it, unless it stood before", async () => {
  const start = async () => {
    const starter = spawnChild({ program: runuser, args: ["-c", `"$0" 60 & echo $!; wait`, sleeper], stdout: "piped" });
    const said = starter.stdout!.pipeThrough(new TextDecoderStream()).getReader();
    const pid = Number((await said.read()).value);
    await said.cancel();
    starter.kill("SIGSTOP");
    assert.ok(await until(async () => await stateOf(starter.pid) === "T"));
    return { starter, pid };
  };
  const earlier = await start();
  const guard = await startGuard(patterns);
  const later = await start();
  for (const { pid } of [earlier, later]) {
    Deno.kill(pid, "SIGSTOP");
    await until(async () => await stateOf(pid) === "T");
    await guard.letGo(pid);
    assert.ok(await until(async () => await stateOf(pid) === "S"));
  }
  assert.ok(await until(async () => await stateOf(later.starter.pid) === "S"));
  assert.equal(await stateOf(earlier.starter.pid), "T");
  await guard.close();
  for (const { pid } of [earlier, later]) Deno.kill(pid, "SIGKILL");
  await end(earlier.starter, later.starter);
});

Deno.test("guard: while llmprof is suspended, who stands goes on unless it is of llmprof's process group", async () => {
  // A shell that stands for llmprof, in a group of its own with a program that it has started.
  const script = '"$0" 60 & "$@"; kill -KILL $!';
  let llmprof!: Child;
  const guard = await startGuard(patterns, "", (options) => {
    return llmprof = spawnChild({ ...options, program: "sh", args: ["-c", script, sleeper, options.program, ...options.args!] });
  });
  const children = async () => (await files.text(`/proc/${llmprof.pid}/task/${llmprof.pid}/children`))!.trim().split(" ").map(Number);
  const [own, guardPid] = await children();
  Deno.kill(own!, "SIGSTOP");
  const [stranger, served] = [await stoppedSleeper(), await stoppedSleeper()];
  for (const pid of [own!, stranger.pid, served.pid]) await guard.stopped(pid);
  await guard.released(served.pid);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(await stateOf(stranger.pid), "T", "it runs");
  llmprof.kill("SIGSTOP");
  assert.ok(await until(async () => await stateOf(stranger.pid) === "S"));
  assert.deepEqual([await stateOf(own!), await stateOf(served.pid)], ["T", "T"]);
  const watching = Number(await files.text(`/proc/${guardPid}/task/${guardPid}/children`));
  assert.ok(watching > 0);
  llmprof.kill("SIGCONT");
  await guard.close();
  assert.equal(await stateOf(watching), null, "it leaves nobody behind");
  await end(stranger, served);
});

Deno.test("guard: whom a gate stopped that ended unheard goes on at the end; without a gate nobody is looked for", async () => {
  const [armed, unarmed] = [await startGuard(patterns), await startGuard(patterns)];
  await armed.armed(1);
  const stopped = await stoppedSleeper();
  for (const guard of [unarmed, armed]) guard.unheard();
  await unarmed.close();
  assert.equal(await stateOf(stopped.pid), "T");
  await armed.close();
  assert.equal(await stateOf(stopped.pid), "S");
  await end(stopped);
});

Deno.test("guard: when the bpftrace of no gate lives, whoever is stopped from then on is stopped by another", async () => {
  const guard = await startGuard(patterns);
  const gate = spawnChild({ program: "true" });
  await gate.status;
  await guard.armed(gate.pid);
  const stopped = await stoppedSleeper();
  guard.unheard();
  await guard.close();
  assert.equal(await stateOf(stopped.pid), "S");
  const later = await stoppedSleeper();
  // Longer than a guard looks for those of a gate that lives.
  await new Promise((resolve) => setTimeout(resolve, 3500));
  assert.equal(await stateOf(later.pid), "T");
  await end(stopped, later);
});

Deno.test("guard: what another llmprof has started is left to that one's guard", async () => {
  const guard = await startGuard(patterns);
  await guard.armed(1);
  // A shell that stands for the other, with its target and a guard's name.
  const script = `"$0" 60 & echo $!; sh -c 'printf %s "llmprof:$PPID" > /proc/$$/comm; read -r _'; kill -KILL $!`;
  const other = spawnChild({ program: "sh", args: ["-c", script, sleeper], stdin: "piped", stdout: "piped" });
  const said = other.stdout!.pipeThrough(new TextDecoderStream()).getReader();
  const theirs = Number((await said.read()).value);
  await until(async () => (await files.text(`/proc/${theirs}/comm`)) === "sleeper\n");
  Deno.kill(theirs, "SIGSTOP");
  const nobodys = await stoppedSleeper();
  guard.unheard();
  await guard.close();
  assert.deepEqual([await stateOf(theirs), await stateOf(nobodys.pid)], ["T", "S"]);
  await other.stdin!.close();
  await said.cancel();
  await other.status;
  await end(nobodys);
});

Deno.test("guard: a guard that cannot start is an error", async () => {
  await assert.rejects(startGuard(["x"], "", (options) => spawnChild({ ...options, program: "/bin/false" })), /guard process did not start/);
});

Deno.test("guard: after SIGKILL of llmprof, who was reported and who maps the library goes on, others do not", async () => {
  // Not reported to the guard, but stopped before it started: somebody else's affair.
  const earlier = await stoppedSleeper();
  const program = `
    import { startGuard } from ${JSON.stringify(new URL("./guard.ts", import.meta.url).href)};
    const guard = await startGuard(${JSON.stringify(patterns)}, import.meta.dirname + "/of its own");
    await guard.armed(Deno.pid);
    const decoder = new TextDecoderStream();
    console.log(guard.pid);
    for await (const text of Deno.stdin.readable.pipeThrough(decoder)) {
      for (const word of text.trim().split("\\n")) {
        const pid = Number(word.slice(1));
        await (word.startsWith("+") ? guard.stopped(pid) : word.startsWith("~") ? guard.mayStop(pid) : guard.released(pid));
      }
      console.log("told");
    }`;
  const dir = await Deno.makeTempDir();
  await Deno.writeTextFile(`${dir}/llmprof.ts`, program);
  await Deno.mkdir(`${dir}/of its own/below`, { recursive: true });
  const env = { PATH: "/usr/bin:/bin", DENO_DIR: dir, NO_COLOR: "1" };
  const args = ["run", "--quiet", "--no-config", "--no-lock", "--allow-run=setpriv", `${dir}/llmprof.ts`];
  const llmprof = spawnChild({ program: Deno.execPath(), args, env, stdin: "piped", stdout: "piped", stderr: "inherit" });
  const output = llmprof.stdout!.pipeThrough(new TextDecoderStream()).getReader();
  const guardPid = Number((await output.read()).value);
  assert.ok(guardPid > 0);
  // `cat` maps nothing that matches, so only the list speaks for it; one of two is taken off the list again.
  const cats = [0, 1].map(() => spawnChild({ program: "cat", stdin: "piped" }));
  const unreported = await orphan('exec "$0" 60', sleeper);
  await until(async () => (await files.text(`/proc/${unreported}/comm`)) === "sleeper\n");
  for (const cat of cats) {
    await until(async () => (await files.text(`/proc/${cat.pid}/comm`)) === "cat\n");
    cat.kill("SIGSTOP");
    assert.ok(await until(async () => await stateOf(cat.pid) === "T"));
  }
  // Not reported either, and of a tree in which programs are stopped at their start.
  const parent = await orphan('sleep 60 & echo $! > "$0"; wait', `${dir}/child`);
  let child = 0;
  assert.ok(await until(async () => (child = Number(await files.text(`${dir}/child`))) > 0));
  await signal("STOP", unreported, child);
  for (const pid of [unreported, child]) assert.ok(await until(async () => await stateOf(pid) === "T"));
  const writer = llmprof.stdin!.getWriter();
  await writer.write(new TextEncoder().encode(`~${parent}\n+${cats[1]!.pid}\n+${cats[0]!.pid}\n-${cats[1]!.pid}\n`));
  await output.read();

  llmprof.kill("SIGKILL");
  await llmprof.status;
  assert.ok(await until(async () => await stateOf(cats[0]!.pid) === "S"), "the reported process goes on");
  assert.ok(await until(async () => await stateOf(unreported) === "S"), "the process with the library goes on");
  assert.ok(await until(async () => ["R", "S"].includes(await stateOf(child) ?? "")), "the process of the tree goes on");
  assert.ok(await until(async () => await stateOf(guardPid) === null), "the guard ends");
  await assert.rejects(Deno.stat(`${dir}/of its own`), Deno.errors.NotFound);
  assert.equal(await stateOf(cats[1]!.pid), "T");
  assert.equal(await stateOf(earlier.pid), "T");

  await signal("KILL", unreported, child);
  await writer.abort().catch(() => {});
  await output.cancel();
  await Promise.all(cats.map((cat) => cat.stdin!.abort()));
  await end(earlier, ...cats);
  await Deno.remove(dir, { recursive: true });
});
