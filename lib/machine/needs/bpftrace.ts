import { atLeast, oldestBpftrace } from "../bpftrace.ts";
import type { Capabilities } from "../capabilities.ts";
import type { Surroundings } from "../surroundings.ts";
import { type Check, missing, ok, unknown, warning } from "./check.ts";
import { asRoot, installCommand, quoteWord } from "./shell.ts";
import { hasRun } from "./surroundings.ts";

const newer = "A newer one that runs beside it: README, “A newer bpftrace”, then --bpftrace PATH.";

/** bpftrace, its version and what it was built with. */
export function bpftraceNeeds(machine: Capabilities, around?: Surroundings): Check[] {
  const { bpftrace, root } = machine;
  const need = `bpftrace ${oldestBpftrace.join(".")} or newer`;
  if (!bpftrace && machine.bpftracePath !== null) {
    return [missing(need, `${machine.bpftracePath} is none`, {
      consequence: "It does not start, or does not say its version.",
      advice: `Try: ${quoteWord(machine.bpftracePath)} --version`,
    })];
  }
  if (!bpftrace) {
    const install = installCommand(machine.distribution, "bpftrace");
    return [missing(need, "not found", {
      consequence: "llmprof writes programs for it and reads what it prints.",
      fix: install ? asRoot(root, install) : "",
      advice: install ? "" : "Install it with this system's package manager, or pass --bpftrace PATH.",
    })];
  }
  const found = `${bpftrace.text.replace(/^bpftrace /, "")} at ${bpftrace.path}`;
  if (!atLeast(bpftrace.version, ...oldestBpftrace)) {
    return [missing(need, found, {
      consequence: "In older builds every program with BEGIN fails (`Could not resolve symbol: /proc/self/exe:BEGIN_trigger`).",
      advice: newer,
    })];
  }
  return [ok(need, found), ...features(machine, around)];
}

function features({ bpftrace, root }: Capabilities, around?: Surroundings): Check[] {
  const { features, version } = bpftrace!;
  const feature = (need: string, has: boolean, consequence: string, advice = "") => {
    if (has) return ok(need, "yes");
    // Only root gets an answer to `bpftrace --info`.
    return root ? warning(need, "no", { consequence, advice }) : unknown(need, "bpftrace tells root only");
  };
  const which = features.offsets ? "Return probes" : "Probes";
  const price = `${which} sit on endbr64, which the kernel steps over: a hit costs up to ten times as much, and nearly nothing at +4.`;
  const places = "probes at any instruction";
  // It is asked by a file there.
  const asked = features.symbols || !around || hasRun(around.run);
  return [
    asked ? feature(places, features.symbols, price, newer) : unknown(places, `see room in ${around.run.folder}`),
    feature("ring buffer", features.ringbuf, "Events cost the traced program two to three times as much.", "bpftrace 0.19 or newer."),
    feature(
      "one link for many probes",
      features.uprobeMulti,
      "Each probe takes 0.1 s to detach at the end.",
      atLeast(version, 0, 20) ? "A kernel from 6.6 on." : "bpftrace 0.20 or newer.",
    ),
  ];
}
