/**
 * What an event costs the traced thread at several rates, by the way in which bpftrace's reader is kept: llmprof's own, never stopped, and
 * fixed rhythms; then rates that jump. As root:
 *
 *     deno run -A tests/bench/rates.ts [--bpftrace 0.23] [--rounds 6] [--window 1000] [--only fixed|jumps] [--rates 2000] [--fixed 500,1000]
 *
 * Where bpftrace has no ring buffer, llmprof's own way is rotating maps, and they are compared with printing. Windows of one round are in
 * random order, so that the machine's other work meets all alike; of two rounds a loud minute decides.
 */
import { parseArgs } from "node:util";
import { readMeans } from "../../lib/commands/means.ts";
import type { Means } from "../../lib/session/means.ts";
import { chosenBpftraces } from "../harness/bpftraces.ts";
import { Producer } from "../workloads/rates.ts";
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
/** A fixed rhythm that lost more than this is no alternative. */
const LOSS_ALLOWED = 0.01;
const FIXED_MS = options.fixed.split(",").map(Number);

await using producer = await Producer.start();
for (const { name, path } of chosenBpftraces(options.bpftrace)) {
  const means = await readMeans(path);
  const maps = !means.machine.bpftrace!.features.ringbuf;
  if (options.only !== "jumps") await compare(name, means, maps ? ["adaptive", "always"] : ["adaptive", "always", ...FIXED_MS]);
  if (options.only !== "fixed") await jump(name, means);
}

async function compare(name: string, means: Means, rhythms: readonly RhythmName[]): Promise<void> {
  const cells = new Map<string, { ns: number[]; lost: number; calls: number; latestMs: number }>();
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const { rate, rhythm } of shuffled(RATES.flatMap((rate) => rhythms.map((rhythm) => ({ rate, rhythm }))))) {
      const { value, lost, latestMs } = await traced(means, producer, rhythm, async () => {
        // The rhythm finds its length first.
        await producer.produce(rate, 600);
        return await producer.produce(rate, Number(options.window));
      });
      const key = `${rate} ${rhythm}`;
      const cell = cells.get(key) ?? { ns: [], lost: 0, calls: 0, latestMs: 0 };
      cell.ns.push(value.nanosecondsPerCall);
      cells.set(key, { ...cell, lost: cell.lost + lost, calls: cell.calls + value.calls, latestMs: Math.max(cell.latestMs, latestMs) });
    }
  }
  for (const rate of RATES) {
    const own = cells.get(`${rate} adaptive`)!;
    const others = rhythms.filter((rhythm) => rhythm !== "adaptive").map((rhythm) => ({ rhythm, cell: cells.get(`${rate} ${rhythm}`)! }));
    const [best] = others.filter(({ cell }) => cell.lost <= LOSS_ALLOWED * cell.calls).toSorted((a, b) => median(a.cell.ns) - median(b.cell.ns));
    const tell = ({ ns, lost }: { ns: number[]; lost: number }) => `${(median(ns) / 1000).toFixed(2)} µs${lost ? ` (lost ${lost})` : ""}`;
    const against = best
      ? `best other ${best.rhythm}: × ${(median(own.ns) / median(best.cell.ns)).toFixed(2)}, ${
        ((median(own.ns) - median(best.cell.ns)) / 1000).toFixed(2)
      } µs more`
      : "";
    console.log(
      `${name} ${rate}/s: llmprof ${tell(own)}, latest after ${own.latestMs.toFixed(0)} ms; ${
        others.map((o) => `${o.rhythm} ${tell(o.cell)}`).join(", ")
      }; ${against}`,
    );
  }
}

/** The rates of the first three phases lose nothing where there is a ring buffer; what is kept of each is counted by the producer and here. */
async function jump(name: string, means: Means): Promise<void> {
  const order = [...RATES, 2_000, 300_000, 200_000];
  const { value, emitted, received, lost, byTag, latestMs, bpftraceSeconds } = await traced(means, producer, "adaptive", async () => {
    const phases = [];
    for (const [tag, rate] of order.entries()) phases.push(await producer.produce(rate, JUMP_MS, tag));
    return phases;
  });
  const calls = value.reduce((sum, phase) => sum + phase.calls, 0);
  console.log(
    `${name} jumps: called ${calls} = emitted ${emitted}, received ${received}, lost ${lost}; latest after ${
      latestMs.toFixed(0)
    } ms; bpftrace ${bpftraceSeconds} s`,
  );
  for (const [tag, { calls, nanosecondsPerCall, milliseconds }] of value.entries()) {
    const kept = byTag.get(tag) ?? 0;
    console.log(
      `  ${order[tag]}/s (${(calls / milliseconds * 1000).toFixed(0)}/s): kept ${kept} of ${calls} (${(100 * kept / calls).toFixed(2)} %), ${
        (nanosecondsPerCall / 1000).toFixed(2)
      } µs`,
    );
  }
}

function median(figures: readonly number[]): number {
  return middle(figures).median;
}
