import type { Capabilities } from "../capabilities.ts";
import type { Surroundings } from "../surroundings.ts";
import { type Check, missing, ok, warning } from "./check.ts";
import { asRoot, quoteWord } from "./shell.ts";

/** Without these a kernel runs no program of llmprof's. */
const configured = [
  "CONFIG_BPF_SYSCALL",
  "CONFIG_BPF_EVENTS",
  "CONFIG_PERF_EVENTS",
  "CONFIG_UPROBES",
  "CONFIG_UPROBE_EVENTS",
  "CONFIG_FTRACE_SYSCALLS",
] as const;

/** A bpftrace takes 90 to 160 MB, there are up to four of them, and llmprof itself. */
const enoughMemory = 1 << 30;
const enoughRoom = 256 << 20;
/** From this kernel on, memory of BPF maps counts for the control group and not as locked memory. */
const unlockedMaps = [5, 11] as const;

/** What a run does not ask for beforehand: it either works or fails with bpftrace's own words, and here is the reason. */
export function surroundingNeeds(machine: Capabilities, around: Surroundings): Check[] {
  return [
    config(around),
    kprobes(around),
    memory(machine, around),
    processors(machine, around),
    ...lockedMemory(machine, around),
    seccomp(machine),
    room(around),
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

function memory({ root }: Capabilities, { memoryLimit }: Surroundings): Check {
  const need = "memory for bpftrace";
  if (!memoryLimit) return ok(need, "no limit");
  const { bytes, file } = memoryLimit;
  if (bytes >= enoughMemory) return ok(need, `limited to ${mebibytes(bytes)}`);
  return warning(need, `limited to ${mebibytes(bytes)}`, {
    consequence: "The kernel may kill bpftrace, or the target, in the middle of a run.",
    fix: `echo ${enoughMemory} | ${asRoot(root, `tee ${quoteWord(file)}`)}`,
    advice: "In a container: give it more memory.",
  });
}

function processors({ root }: Capabilities, { cpuLimit }: Surroundings): Check {
  const need = "a processor beside the target";
  if (!cpuLimit) return ok(need, "no limit");
  const found = `limited to ${cpuLimit.cpus.toFixed(2)} processors`;
  if (cpuLimit.cpus >= 1) return ok(need, found);
  return warning(need, found, {
    consequence: "llmprof and bpftrace are held back for parts of each period, and events may be lost.",
    fix: `echo ${cpuLimit.file.endsWith("cpu.max") ? "max" : "-1"} | ${asRoot(root, `tee ${quoteWord(cpuLimit.file)}`)}`,
    advice: "In a container: give it a whole processor.",
  });
}

function lockedMemory({ kernel, effectiveCaps }: Capabilities, { lockedMemory }: Surroundings): Check[] {
  const [major = 0, minor = 0] = kernel.split(".").map((part) => parseInt(part));
  const mayRaise = (effectiveCaps >> 24n & 1n) === 1n;
  if (major > unlockedMaps[0] || (major === unlockedMaps[0] && minor >= unlockedMaps[1]) || mayRaise || lockedMemory === null) return [];
  const enough = 64 << 20;
  if (lockedMemory >= enough) return [ok("locked memory", mebibytes(lockedMemory))];
  return [warning("locked memory", mebibytes(lockedMemory), {
    consequence: "This kernel counts the memory of maps as locked, and bpftrace may not raise the limit.",
    fix: "ulimit -l unlimited",
    advice: "In a container: --ulimit memlock=-1.",
  })];
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
  const { folder, bytes } = here!;
  const need = `room in ${folder}`;
  if (bytes === null) return ok(need, "not known");
  if (bytes >= enoughRoom) return ok(need, `${mebibytes(bytes)} free`);
  const roomier = elsewhere.find(({ bytes }) => bytes !== null && bytes >= enoughRoom);
  return warning(need, `${mebibytes(bytes)} free`, {
    consequence: "A trace that fills the disk ends there.",
    ...roomier ? { fix: `cd ${quoteWord(roomier.folder)}`, advice: "Or write elsewhere: -o PATH." } : { advice: "Write elsewhere: -o PATH." },
  });
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
