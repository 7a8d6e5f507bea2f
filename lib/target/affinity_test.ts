import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import { readAffinity } from "./affinity.ts";

const status = (allowed: string) => `Name:\tllama-server\nCpus_allowed:\tff\nCpus_allowed_list:\t${allowed}\nMems_allowed_list:\t0\n`;

Deno.test("affinity: of a process, and of those of its threads that may run elsewhere than its first one", async () => {
  const machine = {
    "/proc/100/task/100/status": status("0-3,8"),
    "/proc/100/task/102/status": status("1"),
    "/proc/100/task/101/status": status("0-3,8"),
    // It has ended meanwhile.
    "/proc/100/task/103/comm": "worker\n",
  };
  await withMachine(machine, async (files) => {
    assert.deepEqual(await readAffinity(files, 100), { pid: 100, affinity: "0-3,8", threads: [{ tid: 102, affinity: "1" }] });
    assert.equal(await readAffinity(files, 200), null);
  });
});
