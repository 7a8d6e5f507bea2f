import { createHash } from "node:crypto";
import { ExitCode, LlmprofError } from "../events/errors.ts";
import { hasRingBuffer } from "../machine/bpftrace.ts";
import type { HitCosts } from "../machine/calibration.ts";
import { untimely } from "../machine/child.ts";
import { startGuard } from "../machine/guard.ts";
import { runnableFolder } from "../machine/runnable_folder.ts";
import type { Probe } from "../programs/probe.ts";
import { silent } from "../programs/silent.ts";
import { life } from "../../probes/process/life.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { type CallTimes, callTimes, hitFunction, type HitKind, hitKinds, hitsProgram, LAYER } from "./hits/programs.ts";
import type { Means } from "./means.ts";
import { unwrittenSession } from "./unwritten.ts";

const NAME = "llmprof-hits";
/** In a virtual machine a stepped hit costs one process half as much again as the next, for as long as it runs. An engine is one of them. */
const PROCESSES = 5;

/** Which program is measured, and with what it is traced: what another one cost is not what this one does. */
export function calibratedWith(means: Means): string {
  return createHash("sha256").update(hitsProgram(means.machine.arch)).update(ops.template).digest("hex").slice(0, 16);
}

/**
 * Measures what a hit costs on this machine with this bpftrace, in eight seconds: a small program of our own calls functions that begin as those
 * of engines do, and is traced as an engine is, by the same program text, transport and rhythm. It reads a clock between two calls, before each of
 * which it walks through memory as an operator does: who reads behind a hit pays for a part of it. It runs several times, one process after
 * another. Null when `stop` resolves before it is done.
 */
export async function calibrate(means: Means, bufferPages: number, stop: Promise<unknown>): Promise<HitCosts | null> {
  await using folder = await runnableFolder(means.files, "calibration");
  const guard = await startGuard([], means.machine.bpftrace!.features.symbols ? means.symbols.root : "");
  try {
    const program = `${folder.path}/${NAME}`;
    Deno.writeFileSync(program, hitsProgram(means.machine.arch), { createNew: true, mode: 0o700 });
    const runs = await traced(means, bufferPages, program, stop);
    if (!runs) return null;
    /** Nanoseconds of a call with the reading before it. */
    const [none, nop, emulated, stepped, returned, printing] = hitKinds.map((kind) => mean(runs.map((times) => ofLayer(times[kind]))));
    const more = (cost: number, than: number) => Math.max(0, Math.round(cost - than));
    // Where there is a ring buffer every record is printed, the operators' as well.
    const printed = hasRingBuffer(means.machine.bpftrace!) ? 0 : more(printing!, emulated!);
    const back = more(returned!, emulated! + printed);
    return { nop: more(nop!, none!), emulated: more(emulated!, none!), stepped: more(stepped!, none!), back, printed };
  } finally {
    await guard.close();
  }
}

/** The times of each process. */
async function traced(means: Means, bufferPages: number, program: string, stop: Promise<unknown>): Promise<CallTimes[] | null> {
  const children = Array.from(
    { length: PROCESSES },
    () => means.spawn({ program, stdin: "piped", stdout: "piped", parentDeath: true, newSession: true }),
  );
  const probes = [life, ...hitKinds.slice(1).map(probe)];
  const pids = children.map(({ pid }) => pid);
  // Tracing ends with the process that it is about: the last.
  const target = { type: "running", pid: pids.at(-1)!, pids, argv: [program] } as const;
  const session = unwrittenSession(means, { target, tree: false, probes, bufferPages });
  const go = async () => {
    await session.counting;
    const runs: CallTimes[] = [];
    for (const child of children) {
      const stdin = child.stdin!.getWriter();
      await stdin.write(new Uint8Array(1));
      await stdin.close();
      const times = callTimes(await new Response(child.stdout).bytes());
      if (!times) throw failed(`The program that is measured is gone. ${untimely(await child.status)}`);
      runs.push(times);
    }
    return runs;
  };
  let isOver = false;
  void stop.then(() => isOver = true);
  try {
    const done = go();
    done.catch(() => {});
    await session.run(Promise.race([done, stop]));
    if (isOver) return null;
    const runs = await done;
    const received = [...session.timeline!.tallies.values()].reduce((n, tally) => n + tally.received, 0);
    if (received === 0) throw failed("Nothing of what it did was seen.");
    return runs;
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await session.ended();
  }
}

/**
 * The operators' own program at each kind of function, as in an engine that goes on generating: nobody looks at tensors that are the same as before.
 * At a return, and where a record is to be printed, one that says so itself.
 */
function probe(kind: HitKind): Probe {
  const library = { prefix: NAME, symbols: [hitFunction(kind)], ready: "mapped" } as const;
  const site = { type: "site", at: kind === "return" ? "return" : "entry", functions: [[hitFunction(kind)]] } as const;
  const common = { name: `calibration/${kind}`, summary: ops.summary, library, decoder: silent };
  if (kind !== "return" && kind !== "printed") {
    const { template, records, hot, whileOpen, params } = ops;
    return { ...common, template, records, hot, whileOpen, params: { ...params, op: site } };
  }
  return { ...common, template: "{{hit}} /FILTER/ { @same[tid] = 1; @graph = 1; EMIT(hit); }", records: { hit: [] }, params: { hit: site } };
}

/**
 * The mean over the operators of a layer, each by what is typical of its place: behind weights a hit costs twice what it does behind a vector. Not
 * of the first: before it were the layers of the other kinds, and what only its own kind needs of the kernel is colder than an engine leaves it.
 */
function ofLayer(times: readonly number[]): number {
  const places = Array.from({ length: LAYER }, (_, place) => typical(times.filter((_, i) => i % LAYER === place)));
  return mean(places.slice(1));
}

/** The mean of the middle half: an interrupt in a call is none of the probe's cost. */
function typical(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return mean(sorted.slice(sorted.length >> 2, sorted.length - (sorted.length >> 2)));
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

function failed(why: string): LlmprofError {
  return new LlmprofError(ExitCode.failed, "What a probe's hit costs could not be measured.", why, "See what this machine lacks: llmprof doctor");
}
