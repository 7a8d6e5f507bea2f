import type { Fact } from "../events/fact.ts";
import type { SpanSink } from "../events/span.ts";
import { noGuard } from "../machine/guard.ts";
import type { Probe } from "../programs/probe.ts";
import type { Means } from "./means.ts";
import { Session } from "./session.ts";
import type { RunningTarget } from "./target.ts";

export interface UnwrittenOptions {
  readonly target: RunningTarget;
  readonly tree: boolean;
  readonly probes: readonly Probe[];
  readonly bufferPages: number;
  readonly out?: SpanSink;
  readonly onFact?: (fact: Fact) => void;
  readonly conclude?: () => Promise<readonly Fact[]>;
}

/** A session that finds something out for llmprof itself: it has no outputs, says nothing, and stops nobody. */
export function unwrittenSession(means: Means, { out = () => {}, onFact = () => {}, ...options }: UnwrittenOptions): Session {
  return new Session(means, {
    ...options,
    guard: noGuard,
    patient: false,
    find: (name) => options.probes.find((probe) => probe.name === name),
    // Nobody reads it.
    header: { schemaVersion: 1, llmprof: "", command: "", options: {}, host: {}, bpftrace: null },
    open: () => ({ out, flush: () => {}, recording: null }),
    onFact,
    progress: () => {},
  });
}
