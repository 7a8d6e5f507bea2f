/** A disk that fails under an output: the kernel lets nobody write to it any more, however much was open. (By hand it cannot be made read-only then.) */
import { mustRun } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { aWhile, needs, stopped } from "./fault_tests.ts";
import { faultyRun } from "./faulty_run.ts";
import { loopDevice } from "./loop_device.ts";

const said = /^Cannot go on writing \S+\. Nothing can be written to the disk any more: it has become read-only \(see dmesg\)\.\n/m;

for (const [index, format] of ["pftrace", "jsonl", "pftrace.gz", "json"].entries()) {
  sampledTest(
    index,
    `a disk that becomes read-only under .${format}: what was written is kept and opens, and the other output is whole`,
    needs,
    async ({ path }) => {
      using folder = temporary();
      await using disk = await failingDisk(folder.file("mounted"));
      const place = `${disk.path}/run.${format}`;
      const other = format === "pftrace" ? "llmprof" : "pftrace";
      await using run = await faultyRun({ bpftrace: path, by: "pid", formats: [other, format], elsewhere: { [format]: place } });
      await run.at("counting");
      await aWhile();
      disk.fail();
      await run.llmprof.saw(said);
      await aWhile();
      await run.end({
        ...stopped(run, "SIGINT"),
        code: 1,
        partly: [format],
        says: [said, /\.\nWhat was written until then is kept\. Choose another place/],
      });
    },
    index > 0,
  );
}

sampledTest(1, "a disk that becomes read-only under the only output: the run ends", needs, async ({ path }) => {
  using folder = temporary();
  await using disk = await failingDisk(folder.file("mounted"));
  await using run = await faultyRun({ bpftrace: path, by: "pid", elsewhere: { pftrace: `${disk.path}/run.pftrace` } });
  await run.at("counting");
  await aWhile();
  disk.fail();
  await run.end({ code: 1, partly: ["pftrace"], says: [said] });
});

/** A file system that keeps to what distributions ask for: read-only from its first error on. */
async function failingDisk(path: string): Promise<{ readonly path: string; fail(): void } & AsyncDisposable> {
  const below = temporary();
  const device = await loopDevice(below, 16);
  Deno.mkdirSync(path);
  await mustRun(["mkfs.ext4", "-q", device.path]);
  await mustRun(["mount", "-o", "errors=remount-ro", device.path, path]);
  return {
    path,
    fail: () => Deno.writeTextFileSync(`/sys/fs/ext4/${device.name}/trigger_fs_error`, "1"),
    async [Symbol.asyncDispose]() {
      await mustRun(["umount", path]);
      await device[Symbol.asyncDispose]();
      below[Symbol.dispose]();
    },
  };
}
