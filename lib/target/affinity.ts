import type { Affinity } from "../events/surroundings.ts";
import { affinityIn } from "../machine/affinity.ts";
import type { KernelFiles } from "../machine/files.ts";
import { otherThreads } from "./thread_names.ts";

/** Threads beyond these are not asked: that is done again and again. */
const MOST = 1000;

/** On which processors a process and its threads may run now; null for one that is gone. */
export async function readAffinity(files: KernelFiles, pid: number): Promise<Affinity | null> {
  const tids = await otherThreads(files, pid, MOST);
  const statuses = await files.texts([pid, ...tids].map((tid) => `/proc/${pid}/task/${tid}/status`));
  const [affinity, ...others] = statuses.map(affinityIn);
  if (!affinity) return null;
  const threads = tids.flatMap((tid, i) => !others[i] || others[i] === affinity ? [] : [{ tid, affinity: others[i] }]);
  return { pid, affinity, threads };
}
