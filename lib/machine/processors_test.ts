import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import { readCaches } from "./ceilings/caches.ts";
import { firstProcessors, processorNumbers, readOnline } from "./processors.ts";

Deno.test("processors: those that are online, with gaps between them; the first ones where nothing is said", async () => {
  await withMachine({ "/sys/devices/system/cpu/online": "0-2,6\n" }, async (files) => {
    assert.equal(await readOnline(files), "0-2,6");
    assert.deepEqual(processorNumbers(await readOnline(files)), [0, 1, 2, 6]);
  });
  await withMachine({}, async (files) => assert.equal(processorNumbers(await readOnline(files)), null));
  assert.deepEqual(firstProcessors(2), [0, 1]);
});

Deno.test("processors: each one's cache is counted where every second one is switched off", async () => {
  const cpu = (number: number) => `/sys/devices/system/cpu/cpu${number}/cache`;
  await withMachine({
    "/sys/devices/system/cpu/online": "0,2\n",
    // Of those that are off the kernel shows no caches.
    [`${cpu(0)}/index2/shared_cpu_list`]: "0\n",
    [`${cpu(0)}/index2/size`]: "1024K\n",
    [`${cpu(2)}/index2/shared_cpu_list`]: "2\n",
    [`${cpu(2)}/index2/size`]: "2048K\n",
    [`${cpu(0)}/index3/shared_cpu_list`]: "0,2\n",
    [`${cpu(0)}/index3/size`]: "32M\n",
    [`${cpu(2)}/index3/shared_cpu_list`]: "0,2\n",
    [`${cpu(2)}/index3/size`]: "32M\n",
  }, async (files) => {
    const numbers = processorNumbers(await readOnline(files));
    assert.deepEqual(await readCaches(files, numbers!), { second: [1 << 20, 2 << 20], third: [32 << 20] });
  });
});
