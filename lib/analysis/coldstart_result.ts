import type { Ns } from "../events/time.ts";
import { SAMPLES_PER_SECOND } from "../programs/detail.ts";
import type { Activity } from "./activity.ts";
import type { ColdstartKind, ColdstartPhase, ColdstartResult, ColdstartStep } from "./coldstart_schema.ts";
import { figures, noteOf } from "./figures.ts";
import type { FirstToken } from "./first_token.ts";
import { Intervals } from "./intervals.ts";
import { type Listening, whereAsked } from "./listening.ts";
import { phaseName } from "./phase_kinds.ts";
import type { ProcessTree } from "./process_tree.ts";
import type { Quality } from "./quality.ts";
import { type RunningCode, samplesOf, type UnexplainedCode, whatRan } from "./running_code.ts";
import { share } from "./sample_ledger.ts";
import type { StoppedTimes } from "./stopped.ts";
import type { SystemCallsResult } from "./system_calls_schema.ts";
import { MIN_GAP_NS, type Segment, waterfall } from "./waterfall.ts";

/** All that is left of the spans when the last one has been seen. */
export interface Seen {
  readonly tree: ProcessTree;
  readonly stopped: StoppedTimes;
  readonly activities: readonly Activity[];
  readonly coarse: boolean;
  /** First and last time at which the tree did anything. */
  readonly firstSeen: Ns;
  readonly lastSeen: Ns;
  /** Of the process that gave the first token. Where nothing followed it, all later activities were kept too. */
  readonly token: FirstToken | undefined;
  readonly listening: readonly Listening[];
  /** When connections were accepted, by whom of the tree. */
  readonly accepted: { readonly depth: number; readonly at: readonly Ns[] };
  readonly running: RunningCode;
  readonly memory: Pick<ColdstartResult, "pageCache" | "pageFaults" | "locks">;
  readonly systemCalls: SystemCallsResult | null;
  readonly quality: Quality;
}

export function coldstartResult(seen: Seen): ColdstartResult {
  const { tree } = seen;
  const token = seen.token?.at;
  const exec = tree.exec ?? seen.firstSeen;
  const known = tree.root !== undefined && exec < Infinity;
  const origin = known ? exec : 0;
  const last = known ? Math.max(origin, seen.lastSeen) : 0;
  const end = token === undefined ? last : Math.max(origin, token);
  const stops = seen.stopped.union(tree.pids);
  const net = (to: Ns) => to - origin - stops.overlap(origin, to);

  const code = seen.running.unexplained(tree.pids, seen.activities);
  const steps = toSteps(waterfall(seen.activities, origin, end, stops), origin, seen.stopped, code);
  const totalNs = net(end);
  const until = seen.token && seen.token.basis !== "last call" ? end : last;
  return {
    root: known ? { pid: tree.root!, file: tree.file ?? null, execNs: origin, execSeen: tree.exec !== undefined } : null,
    processes: tree.pids.size,
    totalNs,
    stoppedNs: stops.overlap(origin, end),
    end: token === undefined ? "last event" : "first token",
    timeToFirstTokenNs: token === undefined ? null : totalNs,
    firstTokenBasis: seen.token?.basis ?? null,
    promptSeen: seen.token?.promptSeen ?? false,
    milestones: milestones(seen, origin, until).map(([name, at, port]) => ({ name, atNs: net(at), ...port !== undefined && { port } })),
    steps,
    kinds: kinds(steps, totalNs),
    whileUnexplained: samplesBetween(code, origin, end),
    // Of a program that goes on, what it does after its first token too.
    phases: [...toPhases(seen, origin, last), ...unexplained(seen, origin, last, stops)].sort((a, b) => a.startNs - b.startNs),
    coarse: seen.coarse,
    ...seen.memory,
    systemCalls: seen.systemCalls,
    quality: seen.quality,
  };
}

function toSteps(segments: readonly Segment[], origin: Ns, stopped: StoppedTimes, code: UnexplainedCode): ColdstartStep[] {
  // Something longer may be cut into several steps: how much was done stands beside the first, so that the figures add up too.
  const told = new Set<Activity>();
  return segments.map(({ start, end, ns, gapsNs, activities }) => {
    const first = activities[0];
    const kind = first?.kind ?? "unexplained";
    const fresh = activities.filter((activity) => !told.has(activity));
    for (const activity of fresh) told.add(activity);
    const much = figures(fresh);
    const codes = first || code.samples.length === 0 ? undefined : code.between(start, end);
    const note = codes ? whatRan(codes, ns) : noteOf(kind, much, taken(fresh, stopped));
    return {
      name: stepName(first),
      kind,
      startNs: start - origin,
      endNs: end - origin,
      durationNs: ns,
      unexplainedNs: gapsNs,
      ...(first?.file !== undefined && { file: first.file }),
      ...much,
      ...(codes && { codes }),
      ...(note !== undefined && { note }),
    };
  });
}

/** What several threads did at once took no longer than it took one of them, and nothing went on while their process stood. */
function taken(activities: readonly Activity[], stopped: StoppedTimes): number {
  const times = new Intervals();
  for (const { pid, start, end } of activities) {
    let from = start;
    for (const [stop, goesOn] of stopped.union([pid])) {
      times.add(from, Math.min(stop, end));
      from = Math.max(from, goesOn);
    }
    times.add(from, end);
  }
  return times.total;
}

function samplesBetween(code: UnexplainedCode, from: Ns, to: Ns): ColdstartResult["whileUnexplained"] {
  const codes = code.between(from, to), all = samplesOf(codes);
  return all === 0
    ? null
    : { perSecond: SAMPLES_PER_SECOND, samples: all, codes: codes.map(({ code, samples }) => ({ code, ...share(samples, all) })) };
}

/** Of a call that contains others only the rest is its own step. */
function stepName(activity: Activity | undefined): string {
  if (!activity) return "unexplained";
  return activity.kind === "load" ? "model load (compute, allocation)" : phaseName(activity);
}

function toPhases({ activities, stopped }: Seen, origin: Ns, until: Ns): ColdstartPhase[] {
  return activities.filter((a) => a.end >= origin && a.start <= until).map((activity) => {
    const { kind, pid, tid, file, files, open } = activity;
    const [start, end] = [Math.max(activity.start, origin), Math.min(activity.end, until)];
    const durationNs = stopped.net(pid, start, end);
    return {
      name: phaseName(activity),
      kind,
      startNs: start - origin,
      durationNs,
      stoppedNs: stopped.within(pid, start, end),
      busyNs: Math.min(activity.busyNs, durationNs),
      ...figures([activity]),
      ...(file !== undefined && { file }),
      ...(files > 1 && { files }),
      pid,
      tid,
      ...(open && { open }),
    };
  });
}

/** What nobody explains is a phase too, over all that was observed. */
function unexplained({ activities, tree }: Seen, origin: Ns, until: Ns, stops: Intervals): ColdstartPhase[] {
  const pid = tree.root ?? 0;
  return waterfall(activities, origin, until, stops).filter(({ activities, ns }) => activities.length === 0 && ns >= MIN_GAP_NS).map((gap) => ({
    name: "unexplained",
    kind: "unexplained",
    startNs: gap.start - origin,
    durationNs: gap.ns,
    stoppedNs: stops.overlap(gap.start, gap.end),
    busyNs: 0,
    pid,
    tid: pid,
  }));
}

function kinds(steps: readonly ColdstartStep[], totalNs: number): ColdstartResult["kinds"] {
  const sums = new Map<ColdstartKind, number>();
  const add = (kind: ColdstartKind, ns: number) => ns > 0 && sums.set(kind, (sums.get(kind) ?? 0) + ns);
  for (const { kind, durationNs, unexplainedNs } of steps) {
    add(kind, durationNs - unexplainedNs);
    add("unexplained", unexplainedNs);
  }
  return [...sums].map(([kind, ns]) => ({ kind, totalNs: ns, share: ns / totalNs })).sort((a, b) => b.totalNs - a.totalNs);
}

function milestones(seen: Seen, origin: Ns, until: Ns): [name: string, at: Ns, port?: number][] {
  const { activities, token } = seen;
  // Where each model is in a process of its own, the others' are not those that the token waited for; who forks behind its load has none itself.
  const of = (kind: ColdstartKind) => {
    const all = activities.filter((activity) => activity.kind === kind), own = all.filter(({ pid }) => pid === token?.pid);
    return own.length > 0 ? own : all;
  };
  const decode = of("decode")[0]?.start;
  // llama.cpp first loads a model without its weights, to see what fits: the one that answers is the last before it is asked.
  const last = (kind: ColdstartKind) => of(kind).findLast(({ start }) => start < (decode ?? Infinity));
  const listening = whereAsked(seen.listening, seen.accepted.depth, token?.at);
  const loaded = ended(last("load")), ready = ended(last("context"));
  const found: [string, Ns | undefined, number?][] = [
    ["model load begins", of("load")[0]?.start],
    ["model loaded", loaded],
    ["context ready", ready],
    ["listening", listening?.at, listening?.port],
    ["connection accepted", token && asked(seen, token, ready ?? loaded ?? Infinity)],
    ["first llama_decode", decode],
    ["first token", token?.at],
  ];
  const inRange = found.filter((entry): entry is [string, Ns, number?] => entry[1] !== undefined && entry[1] >= origin && entry[1] <= until);
  return inRange.sort(([, a], [, b]) => a - b);
}

/**
 * When a server was asked for the token: what lies before is nobody's work. Who looks after its health comes while it loads and computes, too.
 * `ready`: when the model was that answered.
 */
function asked({ tree, accepted: { depth, at: accepted } }: Seen, token: FirstToken, ready: Ns): Ns | undefined {
  const before = (time: Ns) => accepted.findLast((at) => at <= time);
  // A process that was started behind the first connection was started for one, unless somebody came when it had loaded: it was made ready before.
  const last = before(token.begun!), forked = tree.forkedAfter(accepted[0] ?? Infinity, token.pid, depth);
  const loads = forked !== undefined && !(last !== undefined && last >= ready);
  return (loads ? before(forked) : last) ?? before(token.at!);
}

function ended(activity: Activity | undefined): Ns | undefined {
  return activity?.open ? undefined : activity?.end;
}
