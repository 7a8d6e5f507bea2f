import { atLeast } from "../bpftrace.ts";
import { type Capabilities, holds } from "../capabilities.ts";
import { type Check, missing, ok, unknown, warning } from "./check.ts";
import { containerFlags, sudoLine, type Typed } from "./shell.ts";

/** Bits of include/uapi/linux/capability.h, and what llmprof does with them. */
const useful = [
  { bit: 1n, name: "CAP_DAC_OVERRIDE", since: [0, 25] },
  { bit: 2n, name: "CAP_DAC_READ_SEARCH", since: [0, 25] },
  { bit: 5n, name: "CAP_KILL", loses: "targets of other users cannot be made to wait" },
  { bit: 7n, name: "CAP_SETUID", loses: "a program cannot be started as the user who typed the command" },
  { bit: 19n, name: "CAP_SYS_PTRACE", loses: "the libraries of other users' processes stay unseen" },
  { bit: 38n, name: "CAP_PERFMON", since: [0, 25] },
  { bit: 39n, name: "CAP_BPF", since: [0, 25] },
] as const;

/** Who runs llmprof, and what that user may do. */
export function privileges(machine: Capabilities, typed: Typed): Check[] {
  return [root(machine, typed), sysAdmin(machine), ...machine.root ? others(machine) : [], pidNamespace(machine)];
}

function root({ root, noNewPrivileges, userNamespaceIsInit }: Capabilities, typed: Typed): Check {
  if (root && !userNamespaceIsInit) {
    return missing("root", "root of a user namespace", {
      consequence: "The kernel lets only the machine's root place probes.",
      advice: "Run it on the host, or in a container that root has started.",
    });
  }
  if (root) return ok("root", "root");
  const consequence = "The kernel lets only root place probes.";
  // Here `sudo` would say no more than "effective uid is not 0".
  if (noNewPrivileges) return missing("root", "no_new_privs is set", { consequence, advice: "Run it as root in a shell that was not started so." });
  return missing("root", "an ordinary user", { consequence, fix: sudoLine(typed) });
}

function sysAdmin({ root, sysAdmin }: Capabilities): Check {
  if (sysAdmin) return ok("CAP_SYS_ADMIN", "effective");
  if (!root) return unknown("CAP_SYS_ADMIN", "see root");
  return missing("CAP_SYS_ADMIN", "not effective", {
    consequence: "The kernel refuses uprobes; CAP_BPF and CAP_PERFMON do not suffice.",
    advice: `Run it on the host, or start the container with ${containerFlags}.`,
  });
}

function others({ effectiveCaps, bpftrace }: Capabilities): Check[] {
  const lacking = useful.filter(({ bit }) => !holds(effectiveCaps, bit));
  return lacking.flatMap((capability): Check[] => {
    const advice = `Run it on the host, or start the container with --cap-add ${capability.name.replace("CAP_", "")}.`;
    if ("loses" in capability) return [warning(capability.name, "not effective", { consequence: `Without it ${capability.loses}.`, advice })];
    if (!bpftrace || !atLeast(bpftrace.version, ...capability.since)) return [];
    return [missing(capability.name, "not effective", { consequence: `bpftrace from ${capability.since.join(".")} on refuses to start.`, advice })];
  });
}

/**
 * Inside a PID namespace llmprof knows processes by other numbers than the machine does. `pid` of a program says the machine's number before
 * 0.23, takes process and thread for one another until 0.24.1 (bpftrace issue 4813), and then says the namespace's; fields of tracepoints stay
 * the machine's.
 */
function pidNamespace({ pidNamespaceIsInit, bpftrace }: Capabilities): Check {
  const need = "the machine's PID namespace";
  if (pidNamespaceIsInit) return ok(need, "yes");
  const advice = "Run it on the host, or start the container with --pid host.";
  const version = bpftrace?.version;
  if (version && atLeast(version, 0, 24, 2)) {
    return warning(need, "a container's", { consequence: "Processes that the target forks are not followed.", advice });
  }
  const swaps = version && atLeast(version, 0, 23);
  return missing(need, "a container's", {
    consequence: swaps
      ? `bpftrace ${version.join(".")} takes process and thread ids for one another here: nothing matches the target.`
      : "Probes see other process numbers than llmprof: nothing matches the target.",
    advice: `${advice} bpftrace 0.24.2 or newer sees the container's numbers.`,
  });
}
