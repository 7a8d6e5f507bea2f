import { ExitCode, LlmprofError } from "../events/errors.ts";
import { atLeast } from "./bpftrace.ts";
import type { Capabilities } from "./capabilities.ts";

/** Below, every program with `BEGIN` fails on the builds that distributions ship: bpftrace issue 2168, fixed in 0.16. */
export const oldestBpftrace = [0, 16] as const;

/**
 * Why this machine cannot trace; empty when it can. The order is that in which a person has to solve them.
 *
 * @param argv The command line as typed, program first: its repetition with `sudo` is the commonest next step.
 */
export function preflight(machine: Capabilities, argv: readonly string[]): LlmprofError[] {
  const errors: LlmprofError[] = [];
  const refuse = (what: string, why: string, next: string) => errors.push(new LlmprofError(ExitCode.machine, what, why, next));
  if (!machine.root) {
    refuse("Tracing needs root.", "The kernel lets only root place probes.", `Run: ${sudoLine(argv)}`);
  } else if (!machine.sysAdmin) {
    refuse(
      "Tracing needs CAP_SYS_ADMIN.",
      "llmprof runs as root, but in a container without that capability.",
      "Run it on the host, or start the container with --cap-add SYS_ADMIN (docker) and --pid host.",
    );
  }
  if (machine.lockdown === "confidentiality") {
    refuse(
      "The kernel is locked down.",
      "Lockdown mode `confidentiality` forbids reading memory from probes.",
      "Boot with `lockdown=integrity` on the kernel command line, or with Secure Boot off.",
    );
  }
  if (machine.tracefs === null) {
    refuse(
      "tracefs is not mounted.",
      "The kernel describes its tracepoints there.",
      "Run: sudo mount -t tracefs tracefs /sys/kernel/tracing",
    );
  }
  if (machine.bpftrace === null) {
    refuse("bpftrace is not installed.", "llmprof writes programs for it and reads what it prints.", installAdvice(machine.distribution));
  } else if (!atLeast(machine.bpftrace.version, ...oldestBpftrace)) {
    refuse(
      `${machine.bpftrace.text} is too old: llmprof needs 0.16.`,
      "In older builds every program with BEGIN fails (`Could not resolve symbol: /proc/self/exe:BEGIN_trigger`).",
      "Get a newer bpftrace, such as the AppImage of the bpftrace project's releases, and pass --bpftrace PATH.",
    );
  }
  return errors;
}

/** The same command line with `sudo` in front, as something to paste into a shell. */
export function sudoLine(argv: readonly string[]): string {
  return ["sudo", ...argv.map(quote)].join(" ");
}

/** The command that installs bpftrace on this distribution. */
export function installAdvice(distribution: readonly string[]): string {
  for (const id of distribution) {
    const command = installers[id];
    if (command) return `Run: sudo ${command} bpftrace`;
  }
  return "Install bpftrace 0.16 or newer with this system's package manager, or pass --bpftrace PATH.";
}

const installers: Readonly<Record<string, string>> = {
  debian: "apt-get install",
  ubuntu: "apt-get install",
  fedora: "dnf install",
  rhel: "dnf install",
  arch: "pacman -S",
  suse: "zypper install",
  opensuse: "zypper install",
  alpine: "apk add",
};

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
