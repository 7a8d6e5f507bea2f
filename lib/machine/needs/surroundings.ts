import { DEFAULT_BUFFER_PAGES, hasRingBuffer } from "../bpftrace.ts";
import { bufferOf } from "../buffer.ts";
import { type Capabilities, holds } from "../capabilities.ts";
import { isKernelAtLeast } from "../kernel_release.ts";
import type { Room, Surroundings } from "../surroundings.ts";
import { type Check, missing, ok, warning } from "./check.ts";
import { asRoot, moreFiles, moreFilesInContainer, quoteWord } from "./shell.ts";

/** Without these a kernel runs no program of llmprof's. */
const configured = [
  "CONFIG_BPF_SYSCALL",
  "CONFIG_BPF_EVENTS",
  "CONFIG_PERF_EVENTS",
  "CONFIG_UPROBES",
  "CONFIG_UPROBE_EVENTS",
  "CONFIG_FTRACE_SYSCALLS",
] as const;

/**
 * A bpftrace takes 90 to 160 MB, there are up to four of them, and llmprof itself. And the kernel has room for each row of a map of sums once for
 * each processor that it is ready for: of `io`, which has most of them, 144 MiB where these are 32.
 */
const enoughMemory = (possibleCpus: number) => (1 << 30) + Math.max(0, possibleCpus - 32) * MAPS_OF_SUMS * rowsOfSums * 8;
/** Of `io`, without those that are asked for (`--syscalls`). */
export const MAPS_OF_SUMS = 9;
/** DEFAULT_MAP_KEYS of tracing/command_line.ts, whose room comes behind this one. */
const rowsOfSums = 65_536;
/** Those bpftraces, a guard, what reads the machine, and threads that llmprof starts when there is something for them to do. */
const enoughProcesses = 20;
/** A bpftrace that makes a file of each probe has 300 for a GPU's libraries, and some more for each processor. */
const enoughFiles = 512;
const filesOfProcessor = 8;
const enoughRoom = 256 << 20;
/** For names of thousands of functions, and bpftrace's own files. */
const enoughRun = 8 << 20;
/** From this kernel on, memory of BPF maps counts for the control group and not as locked memory. */
const unlockedMaps = [5, 11] as const;
/** Bits of include/uapi/linux/capability.h. */
const CAP_IPC_LOCK = 14n;
const CAP_SYS_RESOURCE = 24n;

/** What a run does not ask for beforehand: it either works or fails with bpftrace's own words, and here is the reason. */
export function surroundingNeeds(machine: Capabilities, around: Surroundings): Check[] {
  return [
    config(around),
    kprobes(around),
    memory(machine, around),
    processors(machine, around),
    processes(machine, around),
    ...lockedMemory(machine, around),
    openFiles(machine, around),
    seccomp(machine),
    room(around),
    run(machine, around),
    pressure(machine, around),
  ];
}

function config({ config }: Surroundings): Check {
  const need = "kernel configuration";
  if (config === null) return ok(need, "not readable; the other lines tell");
  const lacking = configured.filter((name) => config.get(name) !== "y");
  if (lacking.length === 0) return ok(need, `all ${configured.length} options`);
  return missing(need, `without ${lacking.join(", ")}`, {
    consequence: "This kernel was built without what probes are made of.",
    advice: "Start a kernel of the distribution, or one that was built with these options.",
  });
}

function kprobes({ config }: Surroundings): Check {
  const here = config === null ? "" : config.get("CONFIG_KPROBE_EVENTS") === "y" ? "there, but " : "absent, but ";
  return ok("kprobes", `${here}nothing needs them`);
}

function memory({ root, possibleCpus }: Capabilities, { memoryLimit, availableMemory }: Surroundings): Check {
  const enough = enoughMemory(possibleCpus);
  const need = "memory for bpftrace", mayKill = "The kernel may kill bpftrace, or the target, in the middle of a run.";
  if (availableMemory < Math.min(enough, memoryLimit?.left ?? Infinity)) {
    return warning(need, `${mebibytes(availableMemory)} left on this machine`, {
      consequence: mayKill,
      advice: "End what is not needed, or use less.",
    });
  }
  if (!memoryLimit) return ok(need, "no limit");
  const { left, most, file } = memoryLimit;
  const found = `limited to ${mebibytes(most)}, ${mebibytes(Math.max(0, left))} of them left`;
  if (left >= enough) return ok(need, found);
  return warning(need, found, {
    consequence: file.endsWith(".high") ? "The kernel holds llmprof, bpftrace and the target back while they have more." : mayKill,
    fix: `echo ${most - left + 2 * enough} | ${asRoot(root, `tee ${quoteWord(file)}`)}`,
    advice: "In a container: give it more memory.",
  });
}

function processors({ root, cpus }: Capabilities, { cpuLimit, allowedCpus }: Surroundings): Check {
  const need = "a processor beside the target";
  if (allowedCpus === 1 && cpus > 1) {
    return warning(need, `one of ${cpus} may be used`, {
      consequence: "A program that llmprof starts shares it with llmprof and bpftrace: it is slower, and events may be lost.",
      fix: `taskset -cp 0-${cpus - 1} $$`,
      advice: "In a container: --cpuset-cpus of more than one.",
    });
  }
  if (!cpuLimit) return ok(need, "no limit");
  const found = `limited to ${cpuLimit.cpus.toFixed(2)} processors`;
  if (cpuLimit.cpus >= 1) return ok(need, found);
  return warning(need, found, {
    consequence: "llmprof and bpftrace are held back for parts of each period, and events may be lost.",
    fix: `echo ${cpuLimit.file.endsWith("cpu.max") ? "max" : "-1"} | ${asRoot(root, `tee ${quoteWord(cpuLimit.file)}`)}`,
    advice: "In a container: give it a whole processor.",
  });
}

function processes({ root }: Capabilities, { processLimit }: Surroundings): Check {
  const need = "processes for bpftrace";
  if (!processLimit) return ok(need, "no limit");
  const { left, most, file } = processLimit;
  const found = `limited to ${most}, ${left} of them left`;
  if (left >= enoughProcesses) return ok(need, found);
  return warning(need, found, {
    consequence: "A bpftrace, or what llmprof reads the machine with, may not be started: a run ends at once, or says less.",
    fix: `echo ${most - left + 2 * enoughProcesses} | ${asRoot(root, `tee ${quoteWord(file)}`)}`,
    advice: "In a container: a larger --pids-limit.",
  });
}

/** Who types `sudo` is given the right to lock any amount, which bpftrace uses. */
function lockedMemory({ root, effectiveCaps, kernel, bpftrace, ...machine }: Capabilities, { lockedMemory, perfLocked }: Surroundings): Check[] {
  if (!root || lockedMemory === null || holds(effectiveCaps, CAP_SYS_RESOURCE)) return [];
  const need = "locked memory";
  const found = mebibytes(lockedMemory);
  const hasBuffers = bpftrace !== null && !hasRingBuffer(bpftrace) && perfLocked && !holds(effectiveCaps, CAP_IPC_LOCK);
  if (hasBuffers && lockedMemory < machine.cpus * bufferOf(bpftrace, DEFAULT_BUFFER_PAGES, machine).bytes) {
    return [missing(need, found, {
      consequence: "A bpftrace without ring buffer locks a buffer for each processor, and may not raise the limit: nothing attaches.",
      advice: "In a container: --ulimit memlock=-1 or --cap-add IPC_LOCK. Or bpftrace 0.19 or newer.",
    })];
  }
  if (isKernelAtLeast(kernel, ...unlockedMaps)) return [];
  const enough = 64 << 20;
  if (lockedMemory >= enough) return [ok(need, found)];
  return [warning(need, found, {
    consequence: "This kernel counts the memory of maps as locked, and bpftrace may not raise the limit.",
    advice: "In a container: --ulimit memlock=-1 or --cap-add SYS_RESOURCE.",
  })];
}

function openFiles({ root, effectiveCaps, cpus }: Capabilities, { openFiles }: Surroundings): Check {
  const need = "open files", enough = enoughFiles + cpus * filesOfProcessor;
  if (openFiles >= enough) return ok(need, openFiles === Infinity ? "not known" : `up to ${openFiles}`);
  return warning(need, `up to ${openFiles}`, {
    consequence: `bpftrace opens some for each probe and each processor: where fewer than ${enough} may be open, it may not be able to attach.`,
    ...(!root || holds(effectiveCaps, CAP_SYS_RESOURCE)) && { fix: asRoot(root, moreFiles(enough)) },
    advice: moreFilesInContainer(enough),
  });
}

function seccomp({ seccomp }: Capabilities): Check {
  const need = "no filter of system calls";
  if (!seccomp) return ok(need, "none");
  return warning(need, "a seccomp filter", {
    consequence: "It may refuse bpf() and perf_event_open(), and probes with them.",
    advice: "If nothing attaches: run it on the host, or start the container with --security-opt seccomp=unconfined.",
  });
}

function room({ room: [here, ...elsewhere] }: Surroundings): Check {
  const need = `room in ${here!.folder}`;
  if (hasRoom(here!, enoughRoom)) return ok(need, foundRoom(here!));
  const roomier = elsewhere.find((room) => room.bytes !== null && hasRoom(room, enoughRoom));
  return warning(need, foundRoom(here!), {
    consequence: here!.readOnly !== null || here!.kept ? "No trace can be written there." : "A trace that fills the disk ends there.",
    ...roomier ? { fix: `cd ${quoteWord(roomier.folder)}`, advice: "Or write elsewhere: -o PATH." } : { advice: "Write elsewhere: -o PATH." },
  });
}

function run({ root }: Capabilities, { run }: Surroundings): Check {
  const need = `room in ${run.folder}`;
  if (hasRun(run)) return ok(need, foundRoom(run));
  const lacks = run.readOnly !== null || run.bytes === 0 ? missing : warning;
  return lacks(need, foundRoom(run), {
    consequence: "bpftrace is told there where probes are to stand: a run that cannot write ends at once.",
    ...run.readOnly === null
      ? { advice: "Delete what is not needed there." }
      : { fix: asRoot(root, `mount -o remount,rw ${quoteWord(run.readOnly)}`), advice: "In a container: --tmpfs /run." },
  });
}

/** Whether bpftrace can be told what llmprof names. */
export function hasRun(run: Room): boolean {
  return hasRoom(run, enoughRun);
}

function hasRoom({ bytes, readOnly, kept }: Room, enough: number): boolean {
  return readOnly === null && !kept && (bytes === null || bytes >= enough);
}

function foundRoom({ bytes, readOnly, kept }: Room): string {
  if (readOnly !== null) return "read-only";
  if (kept) return "closed to llmprof by Deno";
  return bytes === null ? "not known" : `${mebibytes(bytes)} free`;
}

function pressure({ root }: Capabilities, { pressure, hiddenPressure }: Surroundings): Check {
  const need = "pressure (PSI)";
  if (pressure) return ok(need, "/proc/pressure");
  return warning(need, hiddenPressure === null ? "no /proc/pressure" : `hidden by a mount on ${hiddenPressure}`, {
    consequence: "How long the machine waited for processors, memory and disk cannot be told.",
    ...hiddenPressure === null
      ? { advice: "Boot with psi=1 on the kernel command line, if the kernel has CONFIG_PSI." }
      : { fix: asRoot(root, `umount ${quoteWord(hiddenPressure)}`) },
  });
}

function mebibytes(bytes: number): string {
  return bytes >= 10 * 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(0)} GiB` : `${Math.floor(bytes / 2 ** 20)} MiB`;
}
