import assert from "node:assert/strict";
import { makeElf } from "../../tests/harness/elf.ts";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { DISPATCHED } from "../../probes/torch/library.ts";
import { Learning } from "./learning.ts";
import type { Means } from "./means.ts";

const LINEAR = "_ZN2at4_ops6linear4callERKNS_6TensorES4_RKN3c108optionalIS2_EE", RELU = "_ZN2at4_ops4relu4callERKNS_6TensorE";
const library = makeElf({ [DISPATCHED]: "55", [LINEAR]: "55", [RELU]: "55" });
/** Where the first of them lies behind the beginning of the file, and the next one behind that. */
const FIRST = 0x1000, NEXT = 64;

Deno.test("learning: what a worker ran that has ended is known, too, and a place that several come from is one", async () => {
  using folder = temporary();
  const proc = new FakeProc(folder.path);
  const begins = new Map([[7, 0x7f00_0000_0000], [8, 0x7e00_0000_0000]]);
  for (const [pid, begin] of begins) {
    proc.process(pid, 1, "python3");
    const range = `${begin.toString(16)}-${(begin + 0x2000).toString(16)}`;
    Deno.mkdirSync(folder.file(`proc/${pid}/map_files`));
    Deno.writeFileSync(folder.file(`proc/${pid}/map_files/${range}`), library);
    Deno.writeTextFileSync(folder.file(`proc/${pid}/maps`), `${range} r-xp 00000000 08:02 5    /opt/libtorch_cpu.so\n`);
  }
  const sleep = () =>
    new Promise<void>((resolve) => setTimeout(resolve, 500)).then(() => begins.has(8) && begins.delete(8) ? proc.gone(8) : undefined);
  const learning = new Learning({ files: proc.files, sleep } as Partial<Means> as Means, 2000);
  const caller = (pid: number, offset: number) =>
    learning.heard({ at: 0, stream: "target", record: "torch/learn.caller", pid, tid: pid, values: [begins.get(pid)! + offset] });
  caller(7, FIRST + NEXT + 4);
  caller(8, FIRST + 2 * NEXT + 4);
  // A function of libtorch that is no operator.
  for (const pid of [7, 8]) caller(pid, FIRST + 4);
  await learning.over();
  assert.deepEqual(learning.functions, [RELU, LINEAR]);
  assert.equal(
    learning.learned,
    "2 operators run and are timed from here on; another is not seen; 1 other place dispatches some as well, which are not timed",
  );
});
