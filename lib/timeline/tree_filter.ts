import type { Event, Snapshot } from "../events/event.ts";
import type { MapShape } from "../programs/probe.ts";

/** Lets through what these processes and their descendants do. */
export class TreeFilter {
  readonly #tree: Set<number>;

  constructor(tree: Iterable<number>) {
    this.#tree = new Set(tree);
  }

  accepts(event: Event): boolean {
    if (!this.#tree.has(event.pid)) return false;
    if (event.record === "process/life.task" && !event.values[1]) this.#tree.add(event.values[0] as number);
    return true;
  }

  /** Whose a row is of several processes, or of a file, nobody knows. */
  acceptsRow({ key: [pid] }: Snapshot, map: MapShape | undefined): boolean {
    return map?.key[0] !== "pid" || pid === 0 || this.#tree.has(pid!);
  }
}
