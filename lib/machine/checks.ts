import { atLeast } from "./bpftrace.ts";
import type { Capabilities } from "./capabilities.ts";
import { installAdvice, oldestBpftrace, sudoLine } from "./preflight.ts";

/** One line of `doctor`. */
export interface Check {
  readonly need: string;
  /** `warning`: it can trace, but less or at a higher price. */
  readonly ok: boolean | "warning";
  readonly found: string;
  /** What is missing without it; empty when it is there. */
  readonly consequence: string;
  /** The command or step that fixes it; empty when it is there or nothing does. */
  readonly fix: string;
}

/** Can this machine trace, what is missing, and what fixes it. */
export function checks(machine: Capabilities, argv: readonly string[]): Check[] {
  return [...privileges(machine, argv), ...kernel(machine), ...bpftrace(machine), ...hardware(machine)];
}

function privileges(machine: Capabilities, argv: readonly string[]): Check[] {
  return [
    check("root", machine.root, machine.root ? "root" : "an ordinary user", "The kernel lets only root place probes.", sudoLine(argv)),
    check(
      "CAP_SYS_ADMIN",
      machine.sysAdmin,
      machine.sysAdmin ? "effective" : "missing",
      "The kernel refuses uprobes; CAP_BPF and CAP_PERFMON do not suffice.",
      machine.root ? "start the container with --cap-add SYS_ADMIN, or run on the host" : sudoLine(argv),
    ),
    check(
      "PID namespace",
      machine.pidNamespaceIsInit || "warning",
      machine.pidNamespaceIsInit ? "the machine's" : "a container's",
      "Probes see other process numbers than llmprof: --pid and the process tree do not match.",
      "run on the host, or start the container with --pid host",
    ),
  ];
}

function kernel(machine: Capabilities): Check[] {
  const forbids = machine.lockdown === "confidentiality";
  const syscalls = machine.tracepoints.has("syscalls:sys_enter_mmap");
  return [
    check("kernel", true, `${machine.kernel} ${machine.arch}`, "", ""),
    check(
      "lockdown",
      !forbids,
      machine.lockdown ?? "not reported",
      "Probes may not read memory.",
      "boot with lockdown=integrity on the kernel command line",
    ),
    check(
      "tracefs",
      machine.tracefs !== null,
      machine.tracefs ?? "not mounted",
      "No tracepoint can be found.",
      "sudo mount -t tracefs tracefs /sys/kernel/tracing",
    ),
    check(
      "tracepoints of system calls",
      // An ordinary user may not look: that is no finding.
      syscalls || (machine.root && machine.tracefs !== null ? false : "warning"),
      machine.tracepoints.size === 0 ? "cannot be read" : `${machine.tracepoints.size} tracepoints${syscalls ? "" : ", none of mmap"}`,
      "Libraries that are mapped later, opened files and reads stay unseen.",
      machine.root ? "a kernel with CONFIG_FTRACE_SYSCALLS" : "",
    ),
    check(
      "BTF",
      machine.btf || "warning",
      machine.btf ? "/sys/kernel/btf/vmlinux" : "missing",
      "Fields of kernel structures cannot be read: the gate and file names need them.",
      "a kernel with CONFIG_DEBUG_INFO_BTF",
    ),
  ];
}

function bpftrace(machine: Capabilities): Check[] {
  const found = machine.bpftrace;
  const install = installAdvice(machine.distribution);
  if (!found) return [check("bpftrace", false, "not found", "Nothing can be traced.", install)];
  const newEnough = atLeast(found.version, ...oldestBpftrace);
  const { features } = found;
  // Only root gets an answer to `bpftrace --info`.
  const feature = (need: string, has: boolean, consequence: string) =>
    check(need, has || "warning", has ? "yes" : machine.root ? "no" : "unknown without root", consequence, "bpftrace 0.23 or newer, as in Debian 13");
  return [
    check(
      "bpftrace 0.16",
      newEnough,
      `${found.text} at ${found.path}`,
      "Programs with BEGIN fail in older builds.",
      "a newer bpftrace and --bpftrace PATH",
    ),
    feature(
      "probes at function+4",
      features.offsets,
      "Probes sit on endbr64, which the kernel steps over: a hit costs up to ten times as much, and nearly nothing at +4.",
    ),
    feature("ring buffer", features.ringbuf, "Events cost the traced program two to three times as much."),
    feature("one link for many probes", features.uprobeMulti, "Each probe takes 0.1 s to detach at the end."),
  ];
}

function hardware(machine: Capabilities): Check[] {
  const memory = `${(machine.memoryBytes / 2 ** 30).toFixed(1)} GiB`;
  const steady = machine.governor === null || machine.governor === "performance";
  return [
    check("CPU and memory", true, `${machine.cpus} × ${machine.cpuModel}, ${memory}`, "", ""),
    check("hardware counters", machine.pmu || "warning", machine.pmu ? "yes" : "no PMU", "Cache misses and cycles cannot be counted.", ""),
    check(
      "steady clock frequency",
      steady || "warning",
      machine.governor ?? "not adjustable",
      "Times of two runs differ with the frequency.",
      "sudo cpupower frequency-set -g performance",
    ),
  ];
}

function check(need: string, ok: boolean | "warning", found: string, consequence: string, fix: string): Check {
  return ok === true ? { need, ok, found, consequence: "", fix: "" } : { need, ok, found, consequence, fix };
}
