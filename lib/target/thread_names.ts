import type { KernelFiles } from "../machine/files.ts";

/** What a process and its threads call themselves now. */
export interface ProcessNames {
  readonly pid: number;
  readonly name: string;
  /** All but the first thread, which is called by the process's name. */
  readonly threads: readonly { readonly tid: number; readonly name: string }[];
}

/** Threads beyond these are not asked: a fact is one line of a recording. */
const MOST = 10_000;

/** Null for a process that is gone. */
export async function readThreadNames(files: KernelFiles, pid: number): Promise<ProcessNames | null> {
  const tids = await otherThreads(files, pid, MOST);
  const [name, ...names] = await files.texts([pid, ...tids].map((tid) => `/proc/${pid}/task/${tid}/comm`));
  if (name === null || name === undefined) return null;
  const threads = tids.flatMap((tid, i) => {
    const name = withoutEnd(names[i] ?? "");
    return name === "" ? [] : [{ tid, name }];
  });
  return { pid, name: withoutEnd(name), threads };
}

/** All but the first thread, and no more of them than that. */
export async function otherThreads(files: KernelFiles, pid: number, most: number): Promise<number[]> {
  return (await files.list(`/proc/${pid}/task`)).map(Number).filter((tid) => tid !== pid).sort((a, b) => a - b).slice(0, most);
}

/** In the order asked for; null for a process that is gone. */
export async function readNames(files: KernelFiles, pids: readonly number[]): Promise<(string | null)[]> {
  return (await files.texts(pids.map((pid) => `/proc/${pid}/comm`))).map((text) => text === null ? null : withoutEnd(text));
}

/** A name may have any byte but NUL, line ends as well; the kernel puts one behind it. */
function withoutEnd(text: string): string {
  return text.replace(/\n$/, "");
}
