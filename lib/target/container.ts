import { usage } from "../events/errors.ts";
import type { KernelFiles } from "../machine/files.ts";
import { readContainerNames } from "./container_names.ts";
import { NoMatch } from "./no_match.ts";
import { harmless, shortened } from "../events/text.ts";
import { ancestorsOf, isOver, type ProcessStat, readProcesses } from "./process.ts";

/** A container with processes, as the kernel shows it: whoever runs it is not asked. */
interface Container {
  /** 64 hexadecimal digits. */
  readonly id: string;
  /** Every process in it, whoever started it (`podman exec` is no child of the container's first), in order of their numbers. */
  readonly pids: readonly number[];
  /** Who runs it without root: all of its processes are in that user's slice. */
  readonly user: number | null;
}

/** An id may be shortened, but not to something that is rather a name. */
const shortestPrefix = /^[0-9a-f]{4,64}$/;

/**
 * Ids of the containers that a process is in, from `/proc/PID/cgroup`: several where one runs inside another. Each runtime has its own way to
 * call a control group, and each has the full id as the last part of the name:
 *
 *     docker-ID.scope  libpod-ID.scope  cri-containerd-ID.scope  crio-ID.scope     systemd makes the group
 *     /docker/ID  /libpod_parent/libpod-ID  /kubepods/…/podUID/ID  /default/ID     the runtime does
 *     system.slice:docker:ID  …slice:cri-containerd:ID                             the runtime does, and is told systemd's words
 *
 * `conmon` watches a container from outside, in a group of a similar name.
 */
export function containersIn(cgroup: string): string[] {
  const ids = new Set<string>();
  for (const part of cgroup.split(/[/\n]/)) {
    const id = /(?:^|[-:])([0-9a-f]{64})(?:\.scope)?$/.exec(part)?.[1];
    if (id !== undefined && !part.includes("conmon")) ids.add(id);
  }
  return [...ids];
}

/** Containers that have processes. */
async function readContainers(files: KernelFiles, processes: Iterable<ProcessStat>): Promise<Container[]> {
  const living = [...processes].filter((process) => !isOver(process)).map(({ pid }) => pid).sort((a, b) => a - b);
  const cgroups = await files.texts(living.map((pid) => `/proc/${pid}/cgroup`));
  const members = living.flatMap((pid, i) => containersIn(cgroups[i] ?? "").map((id) => ({ id, pid, user: sliceOf(cgroups[i]!) })));
  return [...Map.groupBy(members, ({ id }) => id)].map(([id, own]) => {
    const users = new Set(own.map(({ user }) => user));
    return { id, pids: own.map(({ pid }) => pid), user: users.size === 1 ? own[0]!.user : null };
  });
}

/** The user in whose slice a control group is, which is that user's own: `/user.slice/user-1000.slice/user@1000.service/…`. */
function sliceOf(cgroup: string): number | null {
  const user = /:\/user\.slice\/user-(\d+)\.slice\//.exec(cgroup)?.[1];
  return user === undefined ? null : Number(user);
}

/** One that was asked for. */
export interface FoundContainer extends Pick<Container, "id" | "pids"> {
  /** Its first process. */
  readonly root: number;
  /** The first processes of all others that run, without those inside of it. */
  readonly others: readonly number[];
}

/**
 * The one running container of this name, or whose id begins so. Throws with exit code 2 when there is none or there are several; those that run are
 * listed.
 */
export async function findContainer(files: KernelFiles, asked: string): Promise<FoundContainer> {
  const processes = await readProcesses(files);
  const running = await readContainers(files, processes.values());
  const names = await readContainerNames(files, running);
  const named = running.filter(({ id }) => names.get(id)!.includes(asked));
  const found = named.length > 0 ? named : running.filter(({ id }) => shortestPrefix.test(asked) && id.startsWith(asked));
  if (found.length === 1) {
    const [{ id, pids }] = found as [Container];
    const roots = running.map((container) => rootOf(processes, container.pids));
    return { id, pids, root: rootOf(processes, pids), others: roots.filter((root) => !pids.includes(root)) };
  }
  const list = (some: readonly Container[]) =>
    some.map(({ id }) => `  --container ${id.slice(0, 12)}  ${shortened(names.get(id)!.map(harmless).join(", ")) || "(no name known)"}`).join("\n");
  if (found.length > 1) {
    throw usage(`${found.length} containers match --container ${asked}.`, "One of them has to be chosen.", `Choose one:\n${list(found)}`);
  }
  throw new NoMatch(
    `No container matches --container ${asked}.`,
    running.length > 0 ? "Others run; an id needs at least its first four digits." : "None runs here, as far as /proc/PID/cgroup tells.",
    running.length > 0 ? `Choose one, or wait with --wait:\n${list(running)}` : "Start it, wait for it with --wait, or name a process: --pid N",
  );
}

/** The process with which a container began: no other of its processes is above it, and it is the oldest of those. */
function rootOf(processes: ReadonlyMap<number, ProcessStat>, pids: readonly number[]): number {
  const inside = new Set(pids);
  const tops = pids.filter((pid) => !ancestorsOf(processes, pid).slice(1).some((above) => inside.has(above)));
  const started = (pid: number) => processes.get(pid)!.startTicks;
  return tops.reduce((oldest, pid) => started(pid) < started(oldest) ? pid : oldest);
}
