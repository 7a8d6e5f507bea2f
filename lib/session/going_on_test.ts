import assert from "node:assert/strict";
import { temporary } from "../../tests/harness/temporary.ts";
import { type Child, spawnChild } from "../machine/child.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { readStat } from "../target/process.ts";
import { GO_ON } from "./going_on.ts";

const files = new ReaderFiles();

async function becomes(pid: number, state: string): Promise<boolean> {
  for (let i = 0; i < 100; i++) {
    if ((await readStat(files, pid))?.state === state) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

/** A shell that has started a program, whose number is `$child`: both stand. `name`: the shell's. */
async function standing(script: string, name = "runuser"): Promise<{ starter: Child; pid: number; end: () => Promise<void> }> {
  const folder = temporary();
  Deno.symlinkSync("/bin/sh", folder.file(name));
  const starter = spawnChild({
    program: folder.file(name),
    args: ["-c", `sleep 30 & child=$!; ${script}echo $child; until wait $child; do :; done`],
    stdout: "piped",
  });
  const said = starter.stdout!.pipeThrough(new TextDecoderStream()).getReader();
  const pid = Number((await said.read()).value);
  for (const stopped of [pid, starter.pid]) {
    assert.ok(await becomes(stopped, "S"));
    Deno.kill(stopped, "SIGSTOP");
    assert.ok(await becomes(stopped, "T"));
  }
  const end = async () => {
    for (const ended of [starter.pid, pid]) Deno.kill(ended, "SIGKILL");
    await said.cancel();
    await starter.status;
    folder[Symbol.dispose]();
  };
  return { starter, pid, end };
}

const letGo = (pid: number) => spawnChild({ program: "sh", args: ["-c", `${GO_ON}\ngo_on "$1"`, "sh", String(pid)] }).status;

Deno.test("going on: who started a process and has stopped with it goes on, too, also when it stops late", async () => {
  const { starter, pid, end } = await standing("");
  assert.equal((await letGo(pid)).code, 0);
  assert.deepEqual([await becomes(pid, "S"), await becomes(starter.pid, "S")], [true, true]);
  Deno.kill(pid, "SIGSTOP");
  assert.ok(await becomes(pid, "T"));
  const going = letGo(pid);
  starter.kill("SIGSTOP");
  await going;
  assert.ok(await becomes(starter.pid, "S"));
  await end();
});

Deno.test("going on: whom its starter lets go, and who stands again by then, stands", async () => {
  const { starter, pid, end } = await standing(`trap 'kill -CONT $child; kill -STOP $child' CONT; `);
  assert.equal((await letGo(pid)).code, 0);
  assert.ok(await becomes(starter.pid, "S"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal((await readStat(files, pid))!.state, "T");
  await end();
});

Deno.test("going on: who started a process and stands for a reason of his own stands", async () => {
  const { starter, pid, end } = await standing("", "wrapper");
  assert.equal((await letGo(pid)).code, 0);
  assert.ok(await becomes(pid, "S"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal((await readStat(files, starter.pid))!.state, "T");
  await end();
});
