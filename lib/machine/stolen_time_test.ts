import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import { readStolenTime } from "./stolen_time.ts";

Deno.test("stolen time: of all processors, beside what they had to do; nothing where no hypervisor took any", async () => {
  const told = (steal: number) => ({ "/proc/stat": `cpu  100 20 30 4000 500 6 7 ${steal} 90 0\ncpu0 1 2 3 4 5 6 7 8 0 0\nintr 5 0\n` });
  await withMachine(told(37), async (files) => assert.deepEqual(await readStolenTime(files), { ns: 37e7, busyNs: 200e7 }));
  await withMachine(told(0), async (files) => assert.equal(await readStolenTime(files), null));
  await withMachine({}, async (files) => assert.equal(await readStolenTime(files), null));
});
