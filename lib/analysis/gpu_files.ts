import type { GpuFileUse } from "../events/gpu.ts";
import type { Instant, Mark } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { type AskedOf, GpuContention } from "./gpu_contention.ts";
import { GpuNodes } from "./gpu_nodes.ts";
import type { GpuResult } from "./gpu_schema.ts";
import type { Windows } from "./windows.ts";

type File = GpuResult["files"][number];
type User = File["users"][number];
type Failure = File["failures"][number];

interface Device {
  readonly users: Map<number, User>;
  readonly commands: Map<string, File["commands"][number]>;
  readonly failures: Map<string, { readonly what: Failure["what"]; readonly errno: number; times: number; readonly pids: Set<number> }>;
}

/** Who uses the device files of GPUs, and whether the target waits for others that do. */
export class GpuFiles {
  readonly #devices = new Map<string, Device>();
  readonly #nodes = new GpuNodes();
  readonly #contention = new GpuContention();

  constructor(readonly windows: Windows) {}

  /** Of the target. */
  life(instant: Instant): void {
    this.#nodes.life(instant);
  }

  mark({ kind }: Mark): void {
    if (kind === "ended") this.#nodes.ended();
  }

  used(file: GpuFileUse, start: Ns, end: Ns): void {
    const { device: name, pid, isTarget, what, errno, command } = file;
    this.#nodes.used(file);
    let device = this.#devices.get(name);
    if (!device) this.#devices.set(name, device = { users: new Map(), commands: new Map(), failures: new Map() });
    let user = device.users.get(pid);
    if (!user) {
      const none = { opens: 0, failedOpens: 0, ioctls: 0, failedIoctls: 0, ioctlNs: 0, maps: 0, failedMaps: 0, closes: 0 };
      device.users.set(pid, user = { pid, name: file.name, isTarget, ...none, fromNs: start - (this.windows.begin ?? 0), toNs: 0 });
    }
    if (file.name !== "") user.name = file.name;
    user.toNs = end - (this.windows.begin ?? 0);
    if (errno !== 0 && (what === "open" || what === "map")) {
      const key = `${what} ${errno}`, failure = device.failures.get(key) ?? { what, errno, times: 0, pids: new Set() };
      failure.times++;
      failure.pids.add(pid);
      device.failures.set(key, failure);
    }
    if (what === "open") user[errno === 0 ? "opens" : "failedOpens"]++;
    else if (what === "map") user[errno === 0 ? "maps" : "failedMaps"]++;
    else if (what === "close") user.closes++;
    else {
      const ns = end - start;
      user.ioctls++;
      if (errno !== 0) user.failedIoctls++;
      user.ioctlNs += ns;
      const sums = device.commands.get(command!) ?? { command: command!, calls: 0, ns: 0, maxNs: 0 };
      device.commands.set(command!, { ...sums, calls: sums.calls + 1, ns: sums.ns + ns, maxNs: Math.max(sums.maxNs, ns) });
      if (isTarget) this.asked(`${name} ${command}`, start, ns);
      else if (this.#nodes.isShared(name, pid)) this.#contention.other(pid, user.name, start, end);
    }
  }

  /** See {@link GpuContention.asked}. */
  asked(what: string, start: Ns, ns: number): AskedOf | undefined {
    return this.#contention.asked(what, start, ns);
  }

  /** `watchedNs`: for how long everything was seen. */
  result(watchedNs: number): Pick<GpuResult, "files" | "contention"> {
    const files = [...this.#devices].map(([device, { users, commands, failures }]) => ({
      device,
      users: [...users.values()].sort((a, b) => b.ioctlNs - a.ioctlNs || b.ioctls - a.ioctls || a.pid - b.pid),
      commands: [...commands.values()].sort((a, b) => b.ns - a.ns),
      failures: [...failures.values()].map(({ pids, ...failure }) => ({ ...failure, pids: [...pids] })).sort((a, b) => b.times - a.times),
    })).sort((a, b) => a.device < b.device ? -1 : 1);
    return { files, contention: this.#contention.result(watchedNs) };
  }
}
