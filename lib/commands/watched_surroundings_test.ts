import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import type { Fact } from "../events/fact.ts";
import type { KernelFiles } from "../machine/files.ts";
import { WatchedSurroundings } from "./watched_surroundings.ts";

/** Looks each second for a minute at a process whose `numa_maps` takes so long to be read: when that was read, and what was noted. */
async function watched(readMs: number): Promise<{ readonly read: readonly number[]; readonly notes: readonly string[] }> {
  const read: number[] = [];
  let now = 0;
  const texts = (paths: readonly string[]) => {
    if (paths.includes("/proc/100/numa_maps")) {
      read.push(now / 1000);
      now += readMs;
    }
    return Promise.resolve(paths.map((path) => path === "/proc/100/status" ? "VmRSS:\t 40 kB\n" : ""));
  };
  const surroundings = new WatchedSurroundings(
    { texts } as unknown as KernelFiles,
    () => Promise.resolve([100]),
    { byNode: true, affinity: false, pageBytes: 4096 },
    () => now,
  );
  for (let second = 0; second <= 60; second++) {
    now = Math.max(now, second * 1000);
    await surroundings.look(100);
  }
  now = 65_000;
  const facts: Fact[] = await surroundings.conclude();
  return { read, notes: facts.flatMap((fact) => fact.fact === "note" ? [fact.text] : []) };
}

Deno.test("surroundings: in which nodes memory is is looked at often at first, then each ten seconds, and at the end", async () => {
  assert.deepEqual(await watched(2), { read: [0, 1, 2, 4, 7, 10, 20, 30, 40, 50, 60, 65], notes: [] });
});

Deno.test("surroundings: a look at nodes that takes long is taken for a hundredth of the time at most, and that is said", async () => {
  const { read, notes } = await watched(300);
  assert.deepEqual(read, [0, 40]);
  assert.deepEqual(notes, [
    "in which nodes memory is was looked at no more often than every 30 s, and is as it was then: a look took 0.3 s, in which the target may have to wait when it maps or touches memory",
  ]);
});

Deno.test("surroundings: on which processors threads may run is told when it is looked at first, where it has changed, and where it is asked for", async () => {
  const status = (allowed: string) => `VmRSS:\t 40 kB\nCpus_allowed_list:\t${allowed}\n`;
  const path = "/proc/100/task/100/status";
  await withMachine({ [path]: "" }, async (files, root) => {
    const told = async (affinity: boolean) => {
      await Deno.writeTextFile(root + path, status("0-1"));
      const surroundings = new WatchedSurroundings(files, () => Promise.resolve([100]), { byNode: false, affinity, pageBytes: 4096 }, () => 0);
      const affinities = (facts: readonly Fact[]) => facts.flatMap((fact) => fact.fact === "affinity" ? [fact.affinity] : []);
      const first = affinities(await surroundings.look(100)), again = affinities(await surroundings.look(100));
      await Deno.writeTextFile(root + path, status("1"));
      return [first, again, affinities(await surroundings.look(100)), affinities(await surroundings.conclude())];
    };
    assert.deepEqual(await told(true), [["0-1"], [], ["1"], []]);
    assert.deepEqual(await told(false), [[], [], [], []]);
  });
});
