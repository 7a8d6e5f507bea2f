import { setTimeout as pause } from "node:timers/promises";
import { bootNow } from "./boot_clock.ts";

/** Who sleeps for a step wakes up soon after it: where one takes longer than the longest, nobody ran meanwhile, or nobody in time. */
const STEP_MS = 5, LONGEST_MS = 100;

/** Returns when the machine has run for so long: a virtual one may stand still for a minute, in which nobody does what is waited for. */
export async function ranFor(milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0;) left -= (await step()).ran;
}

/** A time by CLOCK_BOOTTIME, and for how many milliseconds of it the machine ran. */
interface Step {
  readonly from: bigint;
  readonly to: bigint;
  readonly ran: number;
}

export async function step(): Promise<Step> {
  const from = bootNow();
  await pause(STEP_MS);
  const to = bootNow();
  return { from, to, ran: Math.min(Number(to - from) / 1e6, LONGEST_MS) };
}

/** Knows from its making on at which times the machine ran. */
export class Awake implements AsyncDisposable {
  readonly #began = bootNow();
  readonly #steps: Step[] = [];
  #isOver = false;
  readonly #done = this.#follow();

  /** The moment (CLOCK_BOOTTIME) since which the machine has run for so long; where that is longer than it is known, the first that is. */
  ago(milliseconds: number): bigint {
    let left = milliseconds;
    return this.#steps.findLast(({ ran }) => (left -= ran) <= 0)?.from ?? this.#began;
  }

  /** For how many milliseconds of that time it ran, to a step. */
  ran(from: bigint, to: bigint): number {
    return this.#steps.reduce((sum, step) => step.to > from && step.from < to ? sum + step.ran : sum, 0);
  }

  /** For how many milliseconds it stood still until now. */
  stood(): number {
    return this.#steps.reduce((sum, { from, to, ran }) => sum + Number(to - from) / 1e6 - ran, 0);
  }

  async #follow(): Promise<void> {
    while (!this.#isOver) this.#steps.push(await step());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }
}
