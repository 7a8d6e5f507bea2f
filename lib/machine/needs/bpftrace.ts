import { atLeast, oldestBpftrace } from "../bpftrace.ts";
import type { Capabilities } from "../capabilities.ts";
import type { Surroundings } from "../surroundings.ts";
import { type Check, type Lack, missing, ok, unknown, warning } from "./check.ts";
import { newerBpftraceCommands } from "./newer_bpftrace.ts";
import { installCommand, quoteWord } from "./shell.ts";
import { hasRun } from "./surroundings.ts";

/** The first of each whose own bpftrace is new enough. */
const firstOf: Readonly<Record<string, number>> = { debian: 12, ubuntu: 23.04 };

/** bpftrace, its version and what it was built with. `llmprof`: what to type for it. */
export function bpftraceNeeds(machine: Capabilities, llmprof: string, around?: Surroundings): Check[] {
  const { bpftrace } = machine;
  const need = `bpftrace ${oldestBpftrace.join(".")} or newer`;
  if (!bpftrace && machine.bpftracePath !== null) {
    return [missing(need, `${machine.bpftracePath} is none`, {
      consequence: "It does not start, or does not say its version.",
      advice: `Try: ${quoteWord(machine.bpftracePath)} --version`,
    })];
  }
  if (!bpftrace) {
    return [
      missing(need, "not found", { consequence: "llmprof writes programs for it and reads what it prints.", ...installation(machine, llmprof) }),
    ];
  }
  const found = `${bpftrace.text.replace(/^bpftrace /, "")} at ${bpftrace.path}`;
  if (!atLeast(bpftrace.version, ...oldestBpftrace)) {
    return [missing(need, found, {
      consequence: "In older builds every program with BEGIN fails (`Could not resolve symbol: /proc/self/exe:BEGIN_trigger`).",
      ...newer(machine, llmprof),
    })];
  }
  const { fails } = bpftrace;
  if (fails === undefined) return [ok(need, found), ...features(machine, llmprof, around)];
  const lack = { consequence: `Whatever it is asked, it says: ${fails}.`, ...newer(machine, llmprof) };
  return [ok(need, found), missing("a bpftrace that works on this kernel", "no", lack)];
}

function installation(machine: Capabilities, llmprof: string): Pick<Lack, "fix" | "advice"> {
  const { distribution, release, root } = machine;
  if (release !== null && release < (firstOf[distribution[0]!] ?? 0)) return newer(machine, llmprof);
  const fix = installCommand(distribution, root, "bpftrace");
  return fix === null ? { advice: "Install it with this system's package manager, or pass --bpftrace PATH." } : { fix };
}

/** Another one, which runs beside the distribution's. */
function newer(machine: Capabilities, llmprof: string): Pick<Lack, "fix" | "advice"> {
  const { distribution, root } = machine;
  if (!distribution.some((id) => id in firstOf)) return { advice: "A newer one may stand beside it: --bpftrace PATH." };
  return {
    fix: newerBpftraceCommands(root, llmprof, machine).join(" && "),
    advice: "Debian's own, in a folder of its own (550 MB). If the release is signed by an unknown key: install debian-archive-keyring of Debian 13.",
  };
}

function features(machine: Capabilities, llmprof: string, around?: Surroundings): Check[] {
  const { bpftrace, root } = machine;
  const { features, version } = bpftrace!;
  const feature = (need: string, has: boolean, consequence: string, way: Pick<Lack, "fix" | "advice">) => {
    if (has) return ok(need, "yes");
    // Only root gets an answer to `bpftrace --info`.
    return root ? warning(need, "no", { consequence, ...way }) : unknown(need, "bpftrace tells root only");
  };
  const which = features.offsets ? "Return probes" : "Probes";
  const price = `${which} sit on endbr64, which the kernel steps over: a hit costs up to ten times as much, and nearly nothing at +4.`;
  const places = "probes at any instruction";
  const dearer = "It comes with 0.19. Without, an event costs the target up to half as much again, and the tracer three to six times as much.";
  // It is asked by a file there.
  const asked = features.symbols || !around || hasRun(around.run);
  return [
    asked ? feature(places, features.symbols, price, newer(machine, llmprof)) : unknown(places, `see room in ${around.run.folder}`),
    feature("ring buffer", features.ringbuf, dearer, newer(machine, llmprof)),
    feature(
      "one link for many probes",
      features.uprobeMulti,
      "Each probe takes 0.1 s to detach at the end.",
      { advice: atLeast(version, 0, 20) ? "A kernel from 6.6 on." : "bpftrace 0.20 or newer." },
    ),
  ];
}
