import assert from "node:assert/strict";
import { byMemory, bySwap } from "./verdict.ts";

const limits = { cpus: null, throttled: 0, throttledNs: 0, memoryLimit: 100 << 20, memoryBytes: 99 << 20, killed: 0, reads: [] };
const own = { evidence: "300 times", advice: "Read less." };

Deno.test("verdict: reads fill a group's memory, so where nobody counts what is read again its limit stands beside what else to try, as a question", () => {
  assert.deepEqual(byMemory(limits, own), {
    evidence: "300 times; 99.0 MiB of the 100.0 MiB that its control group allows are used",
    advice: "Read less. If it reads the same again and again: raise that limit (memory.max, --memory of a container), or need less memory.",
  });
  assert.deepEqual(byMemory({ ...limits, memoryBytes: 50 << 20 }, own), own);
  assert.deepEqual(byMemory(null, own), own);
});

Deno.test("verdict: a group's memory is too little where what it had read had to be read again, and only there", () => {
  assert.deepEqual(byMemory({ ...limits, refaultedBytes: 0 }, own), own, "each page once, as when a model is loaded");
  assert.deepEqual(byMemory({ ...limits, refaultedBytes: 100 << 20 }, own), {
    evidence: "300 times; 99.0 MiB of the 100.0 MiB that its control group allows are used, and 100.0 MiB of files had to be read again",
    advice: "Raise that limit (memory.max, --memory of a container), or need less memory.",
  });
  assert.deepEqual(byMemory({ ...limits, memoryBytes: 50 << 20, refaultedBytes: 100 << 20 }, own), own);
});

Deno.test("verdict: where a group is held back before its limit, memory is too little from there on", () => {
  const { evidence, advice } = byMemory({ ...limits, memoryBytes: 50 << 20, memoryHigh: 52 << 20, heldBack: 3, refaultedBytes: 100 << 20 }, own);
  assert.match(evidence, /^300 times; 50\.0 MiB of the 52\.0 MiB .* 100\.0 MiB of files/);
  assert.equal(advice, "Raise that limit (memory.high, MemoryHigh= of a service), or need less memory.");
  assert.match(byMemory({ ...limits, memoryHigh: 200 << 20, heldBack: 0 }, own).advice, /memory\.max/);
});

Deno.test("verdict: memory comes back from swap because its group, or the machine, has too little", () => {
  const memory = {
    processes: [],
    residentBytes: 96 << 20,
    lockedBytes: 0,
    swappedBytes: 5 << 20,
    leastAvailableBytes: 0,
    swappedInPages: 300,
    swappedOutPages: 0,
  };
  const back = "300 pages of all processes came back from swap, where 5.0 MiB of its memory were";
  const ofGroup = bySwap({ memory, limits }, 1)!, ofMachine = bySwap({ memory: { ...memory, residentBytes: 90 << 20 }, limits }, 1)!;
  assert.equal(ofGroup.evidence, `${back}; its control group allows 100.0 MiB`);
  assert.match(ofGroup.advice, /^Raise that limit/);
  assert.equal(ofMachine.evidence, back);
  assert.match(
    ofMachine.advice,
    /^It has less memory than it needs: end other processes\..*what is mapped \(llama\.cpp's --load-mode mmap, .*\) needs no swap/,
  );
  assert.equal(bySwap({ memory, limits }, 301), null);
  assert.equal(bySwap({ memory: { ...memory, swappedBytes: 0 }, limits }, 1), null);
  assert.equal(bySwap({ memory: null, limits }, 1), null);
});
