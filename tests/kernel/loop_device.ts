import { mustRun, run } from "../harness/command.ts";
import type { Temporary } from "../harness/temporary.ts";

/** A block device of a test's own, over a file on the disk. */
export interface LoopDevice extends AsyncDisposable {
  /** `/dev/loop0`. */
  readonly path: string;
  /** `7:0`. */
  readonly number: string;
}

export async function loopDevice(folder: Temporary, megabytes: number): Promise<LoopDevice> {
  const file = folder.file("device");
  await mustRun(["dd", "if=/dev/urandom", `of=${file}`, "bs=1M", `count=${megabytes}`, "status=none"]);
  const { stdout } = await mustRun(["losetup", "--find", "--show", "--direct-io=on", file]);
  const path = stdout.trim();
  const number = Deno.readTextFileSync(`/sys/block/${path.slice("/dev/".length)}/dev`).trim();
  return { path, number, [Symbol.asyncDispose]: async () => void await run(["losetup", "--detach", path]) };
}

/** A control group whose processes read so many bytes a second from a device at most. `tasks`: the file that takes a process. */
export function slowReads(device: LoopDevice, bytesPerSecond: number): { readonly tasks: string } & Disposable {
  const group = `/sys/fs/cgroup/blkio/llmprof-test-${Deno.pid}`;
  Deno.mkdirSync(group);
  Deno.writeTextFileSync(`${group}/blkio.throttle.read_bps_device`, `${device.number} ${bytesPerSecond}`);
  return {
    tasks: `${group}/cgroup.procs`,
    // Whoever was in it has ended.
    [Symbol.dispose]: () => Deno.removeSync(group),
  };
}
