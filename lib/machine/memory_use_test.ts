import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import { readMemoryUse } from "./memory_use.ts";

Deno.test("memory: of processes that live, in bytes, and of the machine", async () => {
  await withMachine({
    "/proc/meminfo": "MemTotal:  8000 kB\nMemAvailable:   500 kB\nCached:  70 kB\nSwapCached:  9 kB\n",
    "/proc/vmstat": "pgpgin 1\npswpin 10\npswpout 30\nzswpin 2\nzswpout 4\npswpin_zero 99\n",
    "/proc/100/status": "Name:\tnode\nVmHWM:\t 900 kB\nVmRSS:\t  40 kB\nVmLck:\t   8 kB\nVmSwap:\t  4 kB\n",
    "/proc/100/numa_maps": "7f00 default anon=5 N0=3 N1=2 kernelpagesize_kB=4\n",
    // It has ended, and its parent has not asked how.
    "/proc/101/status": "Name:\tnode\nState:\tZ (zombie)\n",
  }, async (files) => {
    assert.deepEqual(await readMemoryUse(files, [100, 101, 102]), {
      processes: [{ pid: 100, resident: 40 << 10, locked: 8 << 10, swapped: 4 << 10 }],
      available: 500 << 10,
      pageCache: 70 << 10,
      swappedIn: 12,
      swappedOut: 34,
    });
    const [process] = (await readMemoryUse(files, [100], true)).processes;
    assert.deepEqual(process!.nodes, [{ node: 0, bytes: 3 * 4096 }, { node: 1, bytes: 8192 }]);
  });
});

Deno.test("memory: of a process that goes on without its first thread, as another one tells it", async () => {
  await withMachine({
    "/proc/100/status": "Name:\tnode\nState:\tZ (zombie)\nThreads:\t3\n",
    "/proc/100/task/100/status": "Name:\tnode\nState:\tZ (zombie)\nThreads:\t3\n",
    "/proc/100/task/101/status": "Name:\tnode\nVmRSS:\t  40 kB\nThreads:\t3\n",
    "/proc/100/task/101/numa_maps": "7f00 default anon=5 N0=3 kernelpagesize_kB=4\n",
    // It has ended, with all of its threads.
    "/proc/102/status": "Name:\tnode\nState:\tZ (zombie)\nThreads:\t1\n",
    "/proc/102/task/102/status": "Name:\tnode\nState:\tZ (zombie)\nThreads:\t1\n",
  }, async (files) => {
    const of = { pid: 100, resident: 40 << 10, locked: 0, swapped: 0 };
    assert.deepEqual((await readMemoryUse(files, [100, 102])).processes, [of]);
    assert.deepEqual((await readMemoryUse(files, [100], true)).processes, [{ ...of, nodes: [{ node: 0, bytes: 3 * 4096 }] }]);
  });
});
