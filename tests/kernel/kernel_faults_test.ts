/** A program that has the kernel read for it what it has mapped: the kernel's faults are none of its own. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { dropFromCache } from "../workloads/pagecache.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

/** Touches the first page, sleeps for half a second, and writes every page behind the first megabyte into a file. */
const program = `
import mmap, os, resource, sys, time
of, to = sys.argv[1:]
mapped = mmap.mmap(os.open(of, os.O_RDONLY), 0, prot=mmap.PROT_READ)
mapped.madvise(mmap.MADV_RANDOM)
began = time.monotonic_ns()
first = mapped[0]
took = time.monotonic_ns() - began
time.sleep(0.5)
out = os.open(to, os.O_WRONLY | os.O_CREAT)
for at in range(1 << 20, len(mapped), 4096): os.write(out, memoryview(mapped)[at:at + 4096])
print("faults", resource.getrusage(resource.RUSAGE_SELF).ru_majflt, took)`;

sampledTest(1, "io: what the kernel reads through a mapping for a system call is no wait behind the last fault", {}, async ({ path }) => {
  using folder = temporary();
  const file = folder.file("weights.gguf");
  Deno.writeFileSync(file, new Uint8Array(3 << 20).fill(7));
  await dropFromCache(file);
  const argv = ["python3", "-c", program, file, folder.file("out")];
  await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { argv }, formats: [] });
  const finished = await llmprof.finished();
  const { result } = summaryOf("io", finished);
  const [all, took] = /^faults (\d+) (\d+)$/m.exec(finished.stderr)!.slice(1).map(Number) as [number, number];
  const { major, majorNs } = result.files.find((row) => row.file === "weights.gguf")!;
  // The first page, and no time of the sleep.
  assert.ok(all >= 512, `${all} faults that waited for the disk, by the kernel's count`);
  assert.ok(major <= 1 && majorNs < took, `${major} faults that waited for the disk, ${majorNs} ns, ${took} by its own clock`);
});
