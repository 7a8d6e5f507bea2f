import { fileIn } from "../../probes/files/names.ts";
import type { Event } from "../events/event.ts";
import { lastPart } from "../events/text.ts";
import type { KernelFiles } from "../machine/files.ts";
import { isHelpers, isOfInference, isWeights } from "../target/inference_files.ts";
import { ancestorsOf, type ProcessStat, readProcesses, readStat } from "../target/process.ts";

/** Programs that only start others: a cold start begins neither with the shell from which somebody typed nor with what looks after a container. */
const STARTERS = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "fish",
  "ksh",
  "sudo",
  "su",
  "runuser",
  "login",
  "sshd",
  "tmux",
  "screen",
  "make",
  "xargs",
  "timeout",
  "time",
  // Of a container: what makes it, what stays beside it and has forked without an exec, and what is its first process instead of the engine.
  "runc",
  "crun",
  "conmon",
  "conmonrs",
  "containerd-shim", // -runc-v2: the kernel keeps 15 bytes
  "tini",
  "tini-static",
  "docker-init",
  "podman-init",
  "catatonit",
  "dumb-init",
]);

/** Whether an event of the process stream gives an inference process away: it opens weights or maps an inference library that helpers do not map. */
export function isInference(event: Event): boolean {
  const path = event.values.at(-1);
  if (typeof path !== "string") return false;
  // Every Python opens such files to find its packages, and who reads weights from one has mapped PyTorch.
  if (event.record === "files/access.open") return isWeights(path) && !path.endsWith(".pth");
  return event.record === "files/access.map" && isOfInference(path) && !isHelpers(lastPart(path));
}

/** The file that is opened or mapped, where its name fills what a probe reads; null where it is not, or it is another event. */
export function cutFile(event: Event): { readonly dev: number; readonly inode: number } | null {
  const file = fileIn(event);
  return file && String(event.values.at(-1)).endsWith("…") ? file : null;
}

/** The library that is mapped, where helpers map it, too; null where it is another event. */
export function mappedByHelpers({ record, values }: Event): string | null {
  const name = values.at(-1);
  return record === "files/access.map" && typeof name === "string" && isHelpers(name) ? name : null;
}

/**
 * The process with which the cold start of `pid` began: the uppermost of its ancestors that started after llmprof and does more than start
 * others (a test process of an engine belongs to the engine that forked it).
 */
export async function rootOf(files: KernelFiles, pid: number, self: number): Promise<number> {
  const [processes, own] = await Promise.all([readProcesses(files), readStat(files, self)]);
  return chooseRoot(processes, pid, own?.startTicks ?? 0);
}

function chooseRoot(processes: ReadonlyMap<number, ProcessStat>, pid: number, since: number): number {
  let root = pid;
  for (const ancestor of ancestorsOf(processes, pid).slice(1)) {
    const stat = processes.get(ancestor)!;
    if (stat.startTicks < since || STARTERS.has(stat.comm)) break;
    root = ancestor;
  }
  return root;
}
