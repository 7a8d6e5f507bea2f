import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { filesInTmp } from "./faulty_run.ts";
import { treeFrom } from "./processes.ts";

/** What was seen of a file or a folder while it was looked at. */
export interface SeenFile {
  /** Every permission that it had at some time. */
  readonly mode: number;
  /** Whose it was when it was seen last. */
  readonly uid: number;
  /** A process of the run had it open for writing. */
  readonly isWritten: boolean;
}

const LOOK_MS = 20;
/** Flags of `open`, as `/proc/PID/fdinfo` tells them: for writing, or for both. */
const WRITES = 0o3;

/** Looks at the files that a run has, again and again, until it is told to stop. */
export interface Looking extends AsyncDisposable {
  /** What was seen by then, by path. */
  readonly seen: ReadonlyMap<string, SeenFile>;
  /** From now on it is also looked at what this process writes, and whatever it has started. */
  follow(pid: number): void;
  /** Resolves after one more look. */
  stop(): Promise<void>;
}

/** Looks at all that is below these folders, and at what llmprof or bpftrace may have made among temporary files since then. */
export function lookAtFiles(folders: readonly string[]): Looking {
  const before = filesInTmp();
  let followed: number | undefined;
  const seen = new Map<string, SeenFile>();
  const see = (path: string, { mode, uid }: Deno.FileInfo, writes: boolean) => {
    const known = seen.get(path);
    seen.set(path, { mode: mode! & 0o7777 | (known?.mode ?? 0), uid: uid!, isWritten: writes || known?.isWritten === true });
  };
  const below = (path: string) => {
    const info = orGone(() => Deno.lstatSync(path));
    if (!info) return;
    see(path, info, false);
    if (info.isDirectory) { for (const name of namesIn(path)) below(join(path, name)); }
  };
  const written = (pid: number) => {
    for (const fd of namesIn(`/proc/${pid}/fd`)) {
      const path = orGone(() => Deno.readLinkSync(`/proc/${pid}/fd/${fd}`));
      const flags = orGone(() => /^flags:\s*(\d+)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/fdinfo/${fd}`))?.[1]);
      if (!path || !flags || (parseInt(flags, 8) & WRITES) === 0) continue;
      const info = orGone(() => Deno.statSync(`/proc/${pid}/fd/${fd}`));
      // No pipe, no device, no memory without a name (libbpf's), and not what Deno keeps of llmprof's own code.
      if (info?.isFile && !/^\/(proc\/|sys\/|memfd:)|\/deno\/\w+_cache_v\d/.test(path)) see(path, info, true);
    }
  };
  const look = () => {
    for (const folder of folders) for (const name of namesIn(folder)) below(join(folder, name));
    for (const path of filesInTmp().filter((path) => !before.includes(path))) below(path);
    if (followed !== undefined) { for (const { pid } of treeFrom(followed)) written(pid); }
  };
  let isOver = false;
  const done = (async () => {
    for (; !isOver; await pause(LOOK_MS)) look();
    look();
  })();
  const stop = async () => {
    isOver = true;
    await done;
  };
  const follow = (pid: number) => void (followed = pid);
  return { seen, follow, stop, [Symbol.asyncDispose]: stop };
}

function namesIn(folder: string): string[] {
  return orGone(() => [...Deno.readDirSync(folder)].map(({ name }) => name)) ?? [];
}

/** Files, descriptors and processes go while they are looked at. */
function orGone<Found>(look: () => Found): Found | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
