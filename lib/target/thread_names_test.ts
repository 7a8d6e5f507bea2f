import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import { readThreadNames } from "./thread_names.ts";

Deno.test("thread names: of a process and of its other threads, each as it calls itself", async () => {
  const machine = { "/proc/100/task/100/comm": "llama-server\n", "/proc/100/task/102/comm": "two\nlines\n", "/proc/100/task/101/comm": "worker\n" };
  await withMachine(machine, async (files) => {
    assert.deepEqual(await readThreadNames(files, 100), {
      pid: 100,
      name: "llama-server",
      threads: [{ tid: 101, name: "worker" }, { tid: 102, name: "two\nlines" }],
    });
    assert.equal(await readThreadNames(files, 200), null);
  });
});
