import type { GpuFileUse } from "../events/gpu.ts";
import type { Instant, Mark } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { GpuNodes } from "./gpu_nodes.ts";
import type { GpuResult } from "./gpu_schema.ts";
import type { Windows } from "./windows.ts";

type File = GpuResult["files"][number];
type User = File["users"][number];
type Failure = File["failures"][number];

/** Calls for which the target waited, and how long. */
export interface AskedOf {
  calls: number;
  ns: number;
}

/** One of them was made by another one. */
export function forget(asked: AskedOf, ns: number): void {
  asked.calls--;
  asked.ns -= ns;
}

interface Device {
  readonly users: Map<number, User>;
  readonly commands: Map<string, File["commands"][number]>;
  readonly failures: Map<string, { readonly what: Failure["what"]; readonly errno: number; times: number; readonly pids: Set<number> }>;
}

/** Others are taken to be at it for so long after what they asked last. */
const AFTERWARDS_NS = 100e6;
/** Too few calls to compare. */
const FEW = 5;
/** So many times as long is waiting. */
const SLOWER = 1.5;
/** Waiting for others is worth telling from so much of the time on: somebody who looks at the GPU every ten seconds takes less. */
const NOTICEABLE = 1e-4;

/** Who uses the device files of GPUs, and whether the target waits for others that do. */
export class GpuFiles {
  readonly #devices = new Map<string, Device>();
  readonly #nodes = new GpuNodes();
  /** Who uses a GPU of the target's, or may. */
  readonly #others = new Map<number, string>();
  /** By what the target asked: one command takes a thousand times as long as another, whoever else is there. */
  readonly #asked = new Map<string, { readonly shared: AskedOf; readonly alone: AskedOf }>();
  /** The time in which others have last been at it. */
  #from: Ns = NaN;
  #to: Ns = NaN;
  #sharedNs = 0;

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
      if (isTarget) this.asked(`${name} ${command}`, start, end, ns);
      else if (this.#nodes.isShared(name, pid)) this.#other(pid, user.name, start, end);
    }
  }

  /** The target asked something of the driver, and went on when it was done, which took `ns`. Returns where that is counted. */
  asked(what: string, start: Ns, end: Ns, ns: number): AskedOf {
    let asked = this.#asked.get(what);
    if (!asked) this.#asked.set(what, asked = { shared: { calls: 0, ns: 0 }, alone: { calls: 0, ns: 0 } });
    const sums = end >= this.#from && start <= this.#to + AFTERWARDS_NS ? asked.shared : asked.alone;
    sums.calls++;
    sums.ns += ns;
    return sums;
  }

  /** `watchedNs`: for how long everything was seen. */
  result(watchedNs: number): Pick<GpuResult, "files" | "contention"> {
    const files = [...this.#devices].map(([device, { users, commands, failures }]) => ({
      device,
      users: [...users.values()].sort((a, b) => b.ioctlNs - a.ioctlNs || b.ioctls - a.ioctls || a.pid - b.pid),
      commands: [...commands.values()].sort((a, b) => b.ns - a.ns),
      failures: [...failures.values()].map(({ pids, ...failure }) => ({ ...failure, pids: [...pids] })).sort((a, b) => b.times - a.times),
    })).sort((a, b) => a.device < b.device ? -1 : 1);
    return { files, contention: this.#contention(watchedNs) };
  }

  #other(pid: number, name: string, start: Ns, end: Ns): void {
    this.#others.set(pid, name);
    if (!(start <= this.#to + AFTERWARDS_NS)) {
      this.#from = start;
      this.#to = start;
    }
    if (end > this.#to) {
      this.#sharedNs += end - this.#to;
      this.#to = end;
    }
  }

  #contention(watchedNs: number): GpuResult["contention"] {
    if (this.#others.size === 0) return null;
    const asked = [...this.#asked.values()];
    const mean = (of: "shared" | "alone") => {
      const calls = asked.reduce((all, sums) => all + sums[of].calls, 0), ns = asked.reduce((all, sums) => all + sums[of].ns, 0);
      return { calls, meanNs: calls > 0 ? ns / calls : 0 };
    };
    // What was asked both ways: how long it took while others were at it, and how long it would have taken otherwise.
    const both = asked.filter(({ shared, alone }) => shared.calls >= FEW && alone.calls >= FEW);
    const took = both.reduce((all, { shared }) => all + shared.ns, 0);
    const expected = both.reduce((all, { shared, alone }) => all + shared.calls * alone.ns / alone.calls, 0);
    const slower = expected > 0 ? took / expected : null;
    const waits = slower !== null && slower >= SLOWER && took - expected >= NOTICEABLE * watchedNs;
    return {
      others: [...this.#others].map(([pid, name]) => ({ pid, name })),
      sharedNs: this.#sharedNs,
      shared: mean("shared"),
      alone: mean("alone"),
      slower,
      waits,
      waitedNs: waits ? took - expected : 0,
    };
  }
}
