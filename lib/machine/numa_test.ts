import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import { numbersOf, parseNumaMaps, readNumaNodes } from "./numa.ts";

Deno.test("numa: nodes and their processors where there are several, and nothing on a machine of one", async () => {
  await withMachine({
    "/sys/devices/system/node/online": "0-1\n",
    "/sys/devices/system/node/node0/cpulist": "0-1,4\n",
    "/sys/devices/system/node/node1/cpulist": "2-3,5\n",
  }, async (files) => {
    assert.deepEqual(await readNumaNodes(files), [{ node: 0, cpus: "0-1,4" }, { node: 1, cpus: "2-3,5" }]);
  });
  await withMachine({ "/sys/devices/system/node/online": "0\n" }, async (files) => assert.deepEqual(await readNumaNodes(files), []));
  await withMachine({}, async (files) => assert.deepEqual(await readNumaNodes(files), []));
});

Deno.test("numa: lists of numbers, and what is none", () => {
  assert.deepEqual(numbersOf("0-2,5"), [0, 1, 2, 5]);
  for (const text of ["", "x", "3-", "0-99999999", "5-2"]) assert.deepEqual(numbersOf(text), [], text);
});

Deno.test("numa: where a process has its memory, in pages of every size", () => {
  const text = [
    "55d0c0000000 default file=/usr/bin/node mapped=120 N0=120 kernelpagesize_kB=4",
    "7f0000000000 default anon=5 dirty=5 active=0 N0=3 N1=2 kernelpagesize_kB=4",
    "7f1000000000 interleave:0-1 anon=4 dirty=4 N0=1 N1=3 kernelpagesize_kB=2048",
    "7fff00000000 default",
    "",
  ].join("\n");
  assert.deepEqual([...parseNumaMaps(text)], [[0, (120 + 3) * 4096 + 2048 * 1024], [1, 2 * 4096 + 3 * 2048 * 1024]]);
});
