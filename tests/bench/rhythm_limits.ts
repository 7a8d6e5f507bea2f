import { judged } from "./judged.ts";
import { middle } from "./statistics.ts";

/** All windows of a rhythm at a rate. */
export interface Windows {
  readonly rhythm: string | number;
  /** CPU nanoseconds of a call, of each. */
  readonly ns: readonly number[];
  readonly calls: number;
  readonly lost: number;
}

export interface Best {
  readonly rhythm: string | number;
  /** The median of its windows. */
  readonly ns: number;
}

/** A rhythm that lost more than this is no alternative. */
const LOSS_ALLOWED = 0.01;
const MOST_TIMES = 1.3, MOST_MORE_NS = 200;
const LEAST_TIMES_CHEAPER = 3;

/** Under which an event costs least; undefined where there is no alternative. */
export function bestOf(others: readonly Windows[]): Best | undefined {
  const kept = others.filter(({ calls, lost }) => lost <= LOSS_ALLOWED * calls);
  return kept.map(({ rhythm, ns }) => ({ rhythm, ns: middle(ns).median })).toSorted((a, b) => a.ns - b.ns)[0];
}

/** What an event cost with llmprof's own way, beside the best other of that rate: rhythms with a ring buffer, printing without. */
export function besideBest(own: number, best: Best | undefined, isRing: boolean): string {
  if (!best) return "no other to compare with at this rate";
  return `best other ${best.rhythm}: ${(isRing ? dearer : cheaper)(own, best.ns)}`;
}

function dearer(own: number, best: number): string {
  const figure = `× ${(own / best).toFixed(2)}, ${((own - best) / 1000).toFixed(2)} µs more`;
  const limit = `× ${MOST_TIMES} or ${MOST_MORE_NS / 1000} µs at most`;
  return judged(`${figure} (${limit})`, own <= best * MOST_TIMES || own <= best + MOST_MORE_NS);
}

function cheaper(own: number, printing: number): string {
  return judged(`${(printing / own).toFixed(1)} times as dear (${LEAST_TIMES_CHEAPER} at least)`, printing >= LEAST_TIMES_CHEAPER * own);
}
