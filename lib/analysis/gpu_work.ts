import type { GpuCall } from "../events/gpu.ts";
import type { GpuResult } from "./gpu_schema.ts";

/** How many calls, what they moved, and how long they took. */
interface Sums {
  calls: number;
  bytes: number;
  ns: number;
}

interface Launches {
  launches: number;
  captured: number;
  inGraphs: number;
}

/** What GPUs were given to do. Of calls that make one another and are of one kind, the outermost counts: those inside are taken back. */
export class GpuWork {
  readonly #kinds = new Map<string, Sums>();
  readonly #copies = new Map<string, Sums>();
  /** Copies that return when they are done. */
  readonly #waited = new Map<string, Sums>();
  readonly #collectives = new Map<string, Sums>();
  readonly #kernels = new Map<string, Launches>();
  #captured = 0;
  #capturedGraphs = 0;
  #graphKernels = 0;
  #unknownGraphs = 0;

  /** `sign`: -1 takes a call back. */
  add({ name, ns, gpu }: { readonly name: string; readonly ns: number; readonly gpu: GpuCall }, sign: 1 | -1): void {
    const { kind, failure, bytes = 0, direction, kernel, isCaptured, graph } = gpu;
    if (failure !== null) return;
    const add = (to: Map<string, Sums>, key: string, calls = 1, moved = bytes, took = ns) => {
      let sums = to.get(key);
      if (!sums) to.set(key, sums = { calls: 0, bytes: 0, ns: 0 });
      sums.calls += sign * calls;
      sums.bytes += sign * moved;
      sums.ns += sign * took;
    };
    if (!isCaptured) add(this.#kinds, kind);
    if (!isCaptured && direction) {
      add(this.#copies, direction);
      if (gpu.isWaited) add(this.#waited, direction);
    }
    if (!isCaptured && kind === "collective") add(this.#collectives, name);
    if (kind === "launch" && isCaptured) this.#captured += sign;
    if (kind === "graphLaunch" && isCaptured) this.#capturedGraphs += sign;
    if (kind === "graphLaunch" && !isCaptured && !graph) this.#unknownGraphs += sign;
    if (kernel !== undefined) this.#kernel(kernel)[isCaptured ? "captured" : "launches"] += sign;
    for (const [kernel, times] of graph?.kernels ?? []) {
      this.#kernel(kernel).inGraphs += sign * times;
      this.#graphKernels += sign * times;
    }
    for (const [direction, { times, bytes }] of graph?.copies ?? []) {
      add(this.#kinds, "copy", times, bytes, 0);
      add(this.#copies, `${direction}, by graphs`, times, bytes, 0);
    }
    for (const [name, { times, bytes }] of graph?.collectives ?? []) {
      add(this.#kinds, "collective", times, bytes, 0);
      add(this.#collectives, `${name}, by graphs`, times, bytes, 0);
    }
  }

  /** Calls of a kind. */
  of(kind: string): Readonly<Sums> {
    return this.#kinds.get(kind) ?? { calls: 0, bytes: 0, ns: 0 };
  }

  get totals() {
    const sync = this.of("sync"), poll = this.of("poll");
    // Between places in the host's memory none waits for a GPU.
    const waited = [...this.#waited].filter(([direction]) => direction !== "on the host").map(([, sums]) => sums);
    return {
      launches: this.of("launch").calls,
      captured: this.#captured,
      capturedGraphs: this.#capturedGraphs,
      graphKernels: this.#graphKernels,
      unknownGraphs: this.#unknownGraphs,
      graphLaunches: this.of("graphLaunch").calls,
      submits: this.of("submit").calls,
      syncs: sync.calls,
      syncNs: sync.ns,
      waitedCopies: waited.reduce((all, { calls }) => all + calls, 0),
      waitedCopiesNs: waited.reduce((all, { ns }) => all + ns, 0),
      polls: poll.calls,
      pollNs: poll.ns,
    };
  }

  result(): Pick<GpuResult, "copies" | "collectives" | "kernels"> {
    const copies = [...this.#copies].map(([direction, { calls, ...sums }]) => {
      const waited = this.#waited.get(direction);
      return { direction, copies: calls, ...sums, waitedBytes: waited?.bytes ?? 0, waitedNs: waited?.ns ?? 0 };
    });
    const collectives = [...this.#collectives].map(([name, sums]) => ({ name, ...sums }));
    const kernels = [...this.#kernels].map(([name, sums]) => ({ name, ...sums }));
    return {
      // Of what was taken back there is nothing left.
      copies: copies.filter(({ copies }) => copies > 0).sort((a, b) => b.bytes - a.bytes),
      collectives: collectives.filter(({ calls }) => calls > 0).sort((a, b) => b.ns - a.ns),
      kernels: kernels.filter(({ launches, captured, inGraphs }) => launches + captured + inGraphs > 0)
        .sort((a, b) => b.launches + b.inGraphs - a.launches - a.inGraphs || b.captured - a.captured),
    };
  }

  #kernel(name: string): Launches {
    let known = this.#kernels.get(name);
    if (!known) this.#kernels.set(name, known = { launches: 0, captured: 0, inGraphs: 0 });
    return known;
  }
}
