import assert from "node:assert/strict";
import { access } from "../../probes/files/access.ts";
import { calls } from "../../probes/llama/calls.ts";
import { life } from "../../probes/process/life.ts";
import { Candidates } from "./candidates.ts";

/** What comes of it, and how to let time pass. `paths`: of files that processes hold, by device and inode. */
function candidates(paths: Readonly<Record<string, string>> = {}) {
  const told: string[] = [], gone = new Set<number>();
  const sleeping: { readonly ms: number; readonly wake: () => void }[] = [];
  const tell = (what: string) => (pid: number) => void told.push(`${what} ${pid}`);
  const all = new Candidates({
    probes: [life, access, calls],
    sleep: (ms) => new Promise((wake) => void sleeping.push({ ms, wake })),
    elect: tell("elect"),
    mapped: tell("mapped"),
    passed: tell("passed"),
    isThere: (pid) => Promise.resolve(!gone.has(pid)),
    heldPath: (pid, { dev, inode }) => Promise.resolve(gone.has(pid) ? null : paths[`${dev}:${inode}`] ?? null),
  });
  const event = (record: string, pid: number, ...values: (number | string)[]) => all.event({ at: 0, stream: "s", record, pid, tid: pid, values });
  const slept = async (ms: number) => {
    for (const sleeper of sleeping) if (sleeper.ms <= ms) sleeper.wake();
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { told, gone, all, event, slept };
}

Deno.test("candidates: who maps ggml is one, and none any more when it has ended", async () => {
  const { told, all, event, slept } = candidates();
  event("files/access.map", 7, "libggml-base.so");
  event("files/access.map", 7, "libggml-cpu.so");
  event("files/access.map", 8, "libllama.so");
  assert.deepEqual([told, await all.present()], [["mapped 7"], 7], "who maps libllama stands at the gate");
  event("process/life.exit", 7, 0);
  event("process/life.exit", 9, 0);
  await slept(1000);
  assert.deepEqual([told, await all.present()], [["mapped 7", "passed 7"], 8]);
});

Deno.test("candidates: who opens weights, computes, or stays is the one", async () => {
  const weights = candidates();
  weights.event("files/access.open", 7, "small.gguf");
  assert.deepEqual(weights.told, ["elect 7"]);
  const computing = candidates();
  computing.event("files/access.map", 7, "libllama.so");
  computing.event("process/life.exit", 7, 0);
  // What is gathered comes behind the exit.
  computing.event("llama/calls.load", 7);
  await computing.slept(30_000);
  assert.deepEqual([computing.told, await computing.all.present()], [["elect 7"], undefined]);
  const staying = candidates();
  staying.event("files/access.map", 7, "libllama.so");
  await staying.slept(30_000);
  assert.deepEqual(staying.told, ["elect 7"]);
});

Deno.test("candidates: one of which the end was not told is none when it would have stayed, and not when the waiting ends", async () => {
  const { told, gone, all, event, slept } = candidates();
  event("files/access.map", 7, "libcudart.so.12");
  event("files/access.map", 8, "libllama.so");
  gone.add(7);
  assert.equal(await all.present(), 8);
  gone.add(8);
  assert.equal(await all.present(), undefined);
  await slept(30_000);
  assert.deepEqual(told, ["mapped 7", "passed 7", "passed 8"]);
});

Deno.test("candidates: a name that was cut is asked for while the process is there", async () => {
  const long = `/m/${"x".repeat(70)}`;
  const { told, gone, event, slept } = candidates({ "1:2": `${long}.gguf`, "1:3": `${long}.txt`, "2:2": `${long}.txt` });
  const cut = `${"x".repeat(64)}…`;
  gone.add(7);
  for (const pid of [7, 8]) event("files/access.open", pid, 0, 3, 1, 2, 100, cut);
  event("files/access.open", 9, 0, 3, 1, 3, 100, cut);
  event("files/access.map", 10, 0, 0, 100, 1, 0, 1, 2, cut);
  event("files/access.map", 11, 0, 0, 100, 1, 0, 2, 2, cut);
  await slept(0);
  assert.deepEqual(told, ["elect 8", "elect 10"]);
});

Deno.test("candidates: of files that are called by a number only a model in Hugging Face's cache makes one", async () => {
  const number = "0a".repeat(32);
  const { told, event, slept } = candidates({
    "1:1": `/repository/.git/lfs/objects/0a/0a/${number}`,
    "1:2": `/root/.npm/_cacache/content-v2/sha512/aa/bb/${number.slice(4)}${number}`,
    "1:3": `/hub/models--a--b/blobs/${number}.incomplete`,
    "1:4": `/hub/models--a--b/blobs/${number}`,
  });
  for (const inode of [1, 2, 3, 4]) {
    event("files/access.open", inode, 0, 3, 1, inode, 100, `${number}…`);
    event("files/access.map", 10 + inode, 0, 0, 100, 1, 0, 1, inode, `${number}…`);
  }
  assert.deepEqual(told, [], "the name says nothing yet");
  await slept(0);
  assert.deepEqual(told, ["elect 4", "elect 14"]);
});
