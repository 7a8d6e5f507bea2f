import type { Event } from "../../lib/events/event.ts";

/** In the code of an exit, see life.ts. */
const OTHERS_GO_ON = 2 ** 17;

/** With which thread a process ends: it may go on without its first one. Old recordings do not say who goes on: there it ends with the first. */
export class ProcessEnds {
  /** Processes that go on without their first thread. */
  readonly #headless = new Set<number>();

  /** Of each `process/life.exec` and `.exit`: whether what the process was has ended. */
  with({ record, pid, tid, values }: Event): boolean {
    const goesOn = record === "process/life.exit" && (Number(values[0]) & OTHERS_GO_ON) !== 0;
    if (goesOn && tid === pid) this.#headless.add(pid);
    if (goesOn || (record === "process/life.exit" && tid !== pid && !this.#headless.has(pid))) return false;
    this.#headless.delete(pid);
    return true;
  }
}
