/**
 * What an event costs the traced thread at several rates, by the way in which bpftrace's reader is kept: llmprof's own, never stopped, and
 * fixed rhythms; then rates that jump. As root:
 *
 *     deno run -A tests/bench/rates.ts [--bpftrace 0.23] [--rounds 6] [--window 1000] [--only fixed|jumps] [--rates 2000] [--fixed 500,1000]
 *
 * Where bpftrace has no ring buffer, llmprof's own way is rotating maps, and they are compared with printing. Windows of one round are in
 * random order, so that the machine's other work meets all alike; of two rounds a loud minute decides.
 *
 * Wanted, on a machine that does nothing else: every loss is counted; with a ring buffer nothing is lost up to 200,000 a second and a hundredth beyond,
 * and an event costs at most 1.3 times what it does with the best other rhythm at that rate, or 0.2 µs more, also while rates jump; rotating maps cost a
 * third of printing. Ends with 1 where it is otherwise.
 */
import { parseArgs } from "node:util";
import { readMeans } from "../../lib/commands/means.ts";
import type { Means } from "../../lib/session/means.ts";
import { chosenBpftraces } from "../harness/bpftraces.ts";
import { Producer } from "../workloads/rates.ts";
import { judged } from "./judged.ts";
import { besideBest, type Best, bestOf, type Windows } from "./rhythm_limits.ts";
import { middle } from "./statistics.ts";
import { type RhythmName, traced } from "../kernel/traced_rates.ts";
import { shuffled } from "./windows.ts";

const { values: options } = parseArgs({
  options: {
    bpftrace: { type: "string" },
    rounds: { type: "string", default: "6" },
    window: { type: "string", default: "1000" },
    only: { type: "string" },
    rates: { type: "string", default: "2000,20000,100000,300000" },
    fixed: { type: "string", default: "20,50,200,500,1000" },
  },
});
const RATES = options.rates.split(",").map(Number);
const JUMP_MS = 3000;
/** Up to this rate a ring buffer loses nothing; beyond, it keeps so much. */
const LOSSLESS_RATE = 200_000, LEAST_KEPT = 0.99;
const FIXED_MS = options.fixed.split(",").map(Number);

await using producer = await Producer.start();
for (const { name, path } of chosenBpftraces(options.bpftrace)) {
  const means = await readMeans(path);
  const maps = !means.machine.bpftrace!.features.ringbuf;
  const rhythms: RhythmName[] = ["adaptive", "always", ...maps ? [] : FIXED_MS];
  const best = options.only === "jumps" ? new Map<number, Best>() : await compare(name, means, rhythms);
  if (options.only !== "fixed") await jump(name, means, best);
}

/** Returns the best other rhythm at each rate. */
async function compare(name: string, means: Means, rhythms: readonly RhythmName[]): Promise<ReadonlyMap<number, Best>> {
  const isRing = means.machine.bpftrace!.features.ringbuf;
  const cells = new Map<string, Cell>();
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const { rate, rhythm } of shuffled(RATES.flatMap((rate) => rhythms.map((rhythm) => ({ rate, rhythm }))))) {
      // The rhythm finds its length first.
      const work = async () => [await producer.produce(rate, 600), await producer.produce(rate, Number(options.window))] as const;
      const { value: [before, measured], emitted, received, lost, latestMs } = await traced(means, producer, rhythm, work);
      const key = `${rate} ${rhythm}`;
      const cell = cells.get(key) ?? { rhythm, ns: [], emitted: 0, received: 0, lost: 0, calls: 0, latestMs: 0 };
      cells.set(key, {
        rhythm,
        ns: [...cell.ns, measured.nanosecondsPerCall],
        emitted: cell.emitted + emitted,
        received: cell.received + received,
        lost: cell.lost + lost,
        calls: cell.calls + before.calls + measured.calls,
        latestMs: Math.max(cell.latestMs, latestMs),
      });
    }
  }
  const bests = new Map<number, Best>();
  for (const rate of RATES) {
    const own = cells.get(`${rate} adaptive`)!;
    const others = rhythms.filter((rhythm) => rhythm !== "adaptive").map((rhythm) => cells.get(`${rate} ${rhythm}`)!);
    const best = bestOf(others);
    if (best) bests.set(rate, best);
    const tell = ({ ns, lost }: Cell) => `${(median(ns) / 1000).toFixed(2)} µs${lost ? ` (lost ${lost})` : ""}`;
    console.log(
      `${name} ${rate}/s: llmprof ${tell(own)}, latest after ${own.latestMs.toFixed(0)} ms; ${
        others.map((other) => `${other.rhythm} ${tell(other)}`).join(", ")
      }`,
    );
    console.log(`  ${exact(own)}; ${keeps(own.received, own.calls, rate, isRing)}`);
    console.log(`  ${besideBest(median(own.ns), best, isRing)}`);
  }
  return bests;
}

interface Cell extends Windows {
  readonly emitted: number;
  readonly received: number;
  readonly latestMs: number;
}

function exact({ calls, emitted, received, lost }: Pick<Cell, "calls" | "emitted" | "received" | "lost">): string {
  return judged(`called ${calls} = emitted ${emitted} = received ${received} + lost ${lost}`, calls === emitted && emitted === received + lost);
}

function keeps(received: number, calls: number, rate: number, isRing: boolean): string {
  const share = (kept: number) => `${(100 * kept).toFixed(2)} %`;
  const figure = `received ${received} of ${calls} (${share(received / calls)}`;
  if (!isRing) return `${figure})`;
  const least = rate <= LOSSLESS_RATE ? 1 : LEAST_KEPT;
  return judged(`${figure}, ${share(least)} at least)`, received >= least * calls);
}

/**
 * The rates of the first three phases lose nothing where there is a ring buffer; what is kept of each is counted by the producer and here. `best`: at each
 * steady rate.
 */
async function jump(name: string, means: Means, best: ReadonlyMap<number, Best>): Promise<void> {
  const isRing = means.machine.bpftrace!.features.ringbuf;
  const order = [...RATES, 2_000, 300_000, 200_000];
  const { value, emitted, received, lost, byTag, latestMs, bpftraceSeconds } = await traced(means, producer, "adaptive", async () => {
    const phases = [];
    for (const [tag, rate] of order.entries()) phases.push(await producer.produce(rate, JUMP_MS, tag));
    return phases;
  });
  const calls = value.reduce((sum, phase) => sum + phase.calls, 0);
  console.log(`${name} jumps: latest after ${latestMs.toFixed(0)} ms; bpftrace ${bpftraceSeconds} s`);
  console.log(`  ${exact({ calls, emitted, received, lost })}`);
  for (const [tag, { calls, nanosecondsPerCall, milliseconds }] of value.entries()) {
    const received = keeps(byTag.get(tag) ?? 0, calls, order[tag]!, isRing);
    const paced = (calls / milliseconds * 1000).toFixed(0);
    console.log(`  ${order[tag]}/s (${paced}/s): ${(nanosecondsPerCall / 1000).toFixed(2)} µs; ${received}`);
    console.log(`    ${besideBest(nanosecondsPerCall, best.get(order[tag]!), isRing)}`);
  }
}

function median(figures: readonly number[]): number {
  return middle(figures).median;
}
