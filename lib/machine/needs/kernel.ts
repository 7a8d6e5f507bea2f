import { atLeast, hasRingBuffer } from "../bpftrace.ts";
import type { Capabilities } from "../capabilities.ts";
import { AWAKE_RINGS, countsSkipped, filtersReturns, hidesPoint, isKernelAtLeast, sleepsInRing, UNFILTERED_RETURNS } from "../kernel_release.ts";
import { type Check, missing, ok, unknown, warning } from "./check.ts";
import { asRoot, containerFlags } from "./shell.ts";

/** `bpf_ktime_get_boot_ns`, from which every time in a trace comes, is there since 5.8. */
const oldestKernel = [5, 8] as const;

/** The kernel, and what it shows of itself. */
export function kernelNeeds(machine: Capabilities): Check[] {
  return [
    version(machine),
    skippedHits(machine),
    ...filteredReturns(machine),
    ...sleepingRing(machine),
    lockdown(machine),
    tracefs(machine),
    systemCalls(machine),
    types(machine),
  ];
}

function version({ kernel, arch }: Capabilities): Check {
  const need = `Linux ${oldestKernel.join(".")} or newer`;
  const found = `${kernel} ${arch}`;
  if (isKernelAtLeast(kernel, ...oldestKernel)) return ok(need, found);
  return missing(need, found, {
    consequence: "Probes cannot read the clock that all times of a trace come from.",
    advice: "Install the distribution's newer kernel, and start it.",
  });
}

function skippedHits({ kernel }: Capabilities): Check {
  const need = "a kernel that counts the hits it skips";
  if (countsSkipped(kernel)) return ok(need, kernel);
  return warning(need, `${kernel}, and Linux 6.7 is the first`, {
    consequence: "Hits that come while another program runs on that processor are missing, and nothing says how many: a loss of 0 is without them.",
    advice: "Install the distribution's newer kernel, and start it.",
  });
}

/** Said only of the few that do not. */
function filteredReturns({ kernel, arch }: Capabilities): Check[] {
  if (!filtersReturns(kernel, arch)) return [];
  const unless = hidesPoint(kernel) ? ", unless the distribution has mended that, which no number says" : "";
  return [warning("a kernel that lets filtered processes return", kernel, {
    consequence:
      `A process with a filter of system calls (docker, snap, systemd) is killed at the first return that is watched${unless}: llmprof refuses one.`,
    advice: `${UNFILTERED_RETURNS}.`,
  })];
}

/** Said only of the few that do. Where each processor has a buffer of its own nobody waits. */
function sleepingRing({ kernel, realtime, bpftrace }: Capabilities): Check[] {
  if (!realtime || !sleepsInRing(kernel) || bpftrace === null || !hasRingBuffer(bpftrace)) return [];
  return [warning("a real-time kernel whose ring buffer lets nobody sleep", kernel, {
    consequence:
      "Where the scheduler is watched (sched, record), it may sleep in itself for a place in the ring buffer, and the machine stand still.",
    advice: `Start ${AWAKE_RINGS}, a kernel whose distribution has mended that (CVE-2024-50138), or one that is not for real time (PREEMPT_RT).`,
  })];
}

function lockdown({ lockdown }: Capabilities): Check {
  const need = "a kernel not locked down";
  if (lockdown !== "confidentiality") {
    return ok(need, lockdown === null ? "none is told of: not built in, or securityfs is not mounted" : `lockdown=${lockdown}`);
  }
  return missing(need, "lockdown=confidentiality", {
    consequence: "Probes may not read memory.",
    advice: "Boot with lockdown=integrity on the kernel command line, or with Secure Boot off.",
  });
}

function tracefs({ root, userNamespaceIsInit, tracefs }: Capabilities): Check {
  if (tracefs !== null) return ok("tracefs", tracefs);
  if (root && !userNamespaceIsInit) return unknown("tracefs", "see root");
  return missing("tracefs", "not mounted", {
    consequence: "The kernel describes its tracepoints there.",
    fix: asRoot(root, "mount -t tracefs tracefs /sys/kernel/tracing"),
    advice: `A container that may not mount it has to be started with ${containerFlags}.`,
  });
}

function systemCalls(machine: Capabilities): Check {
  const { root, userNamespaceIsInit, tracefs, tracepoints } = machine;
  const need = "tracepoints of system calls";
  // The window of a run is opened by one of them.
  if (tracepoints.has("syscalls:sys_enter_kill")) return ok(need, `${tracepoints.size} tracepoints`);
  if (tracefs === null) return unknown(need, "see tracefs");
  if (!root || !userNamespaceIsInit) return unknown(need, "the kernel tells root only");
  return missing(need, tracepoints.size === 0 ? "none" : `none among ${tracepoints.size}`, {
    consequence: "No program of llmprof's can tell when to begin.",
    ...shown(["syscalls:sys_enter_kill"], machine) ?? { advice: "Start a kernel that was built with CONFIG_FTRACE_SYSCALLS." },
  });
}

/** What shows these tracepoints again; null where no mount hides one of them. */
export function shown(names: readonly string[], { root, tracefs, hidingTracepoints }: Capabilities): { readonly fix: string } | null {
  const paths = names.map((name) => `${tracefs}/events/${name.replace(":", "/")}`);
  const hiding = hidingTracepoints.find((place) => paths.some((path) => `${path}/`.startsWith(`${place}/`)));
  return hiding === undefined ? null : { fix: asRoot(root, `umount ${hiding}`) };
}

function types({ btf, hiddenBtf, root, bpftrace }: Capabilities): Check {
  if (btf) return ok("BTF", "/sys/kernel/btf/vmlinux");
  const found = hiddenBtf === null ? "no /sys/kernel/btf/vmlinux" : `hidden by a mount on ${hiddenBtf}`;
  const way = hiddenBtf === null
    ? { advice: "Start a kernel that was built with CONFIG_DEBUG_INFO_BTF." }
    : { fix: asRoot(root, `umount ${hiddenBtf}`) };
  // 0.17 finds a way (measured), 0.23 does not.
  if (bpftrace && atLeast(bpftrace.version, 0, 23)) {
    return missing("BTF", found, { consequence: `bpftrace ${bpftrace.version.join(".")} does not work without the kernel's types.`, ...way });
  }
  return warning("BTF", found, {
    consequence: "Programs cannot read the kernel's structures: no cold starts, no program that llmprof starts, only --pid.",
    ...way,
  });
}
