import type { Event } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { FindTensor } from "./lanes.ts";
import { linkOf, type Tensor } from "./tensor.ts";

/** Operators that computed a tensor and were told in no graph that was drawn. */
interface Sum {
  readonly pid: number;
  /** Undefined for those of which nobody knows. */
  readonly tensor: Tensor | undefined;
  calls: number;
  /** Of them, those that ended in the window, and how long they took. */
  timed: number;
  ns: number;
  /** From the beginning of its graph, where it is the first. */
  startNs: number;
}

/** What an address stands for in the graph that was drawn last with it. */
interface Place {
  /** Undefined for the end of a graph. */
  readonly sum: Sum | undefined;
  /** The operator before it. */
  readonly before: Sum | undefined;
}

/** A graph while it is drawn. */
interface Drawing {
  readonly address: number;
  readonly nodes: { readonly address: number; readonly tensor: Tensor | undefined }[];
  isWhole: boolean;
}

/**
 * Gives what was summed to the operators: a row counts its own tensor's, and has the time of those before them, by the order in which its graph was drawn.
 * One instant for each tensor, when something else is drawn at its address, or at the end.
 */
export class SummedOperators {
  /** By process and address. */
  readonly #places = new Map<number, Map<number, Place>>();
  /** By thread. */
  readonly #drawings = new Map<number, Drawing>();
  /** By process: of graphs that were never drawn whole, because records of them were lost. */
  readonly #unknown = new Map<number, Sum>();

  constructor(readonly tracks: Tracks, readonly find: FindTensor) {}

  /** `address`: of a tensor, or of a graph, whose end it stands for. */
  add(pid: number, address: number, calls: number, ns: number): void {
    if (calls === 0) return;
    const place = this.#places.get(pid)?.get(address);
    const sum = place ? place.sum : this.#unknownOf(pid);
    const before = place ? place.before : sum;
    if (sum) sum.calls += calls;
    if (before) {
      before.timed += calls;
      before.ns += ns;
    } else if (sum) sum.startNs += ns;
  }

  drawn({ tid }: Event, address: number): void {
    this.#drawings.set(tid, { address, nodes: [], isWhole: true });
  }

  /** `place`: counted from 0, so that a record that was lost is missed. */
  op({ pid, tid }: Event, address: number, place: number): void {
    const drawing = this.#drawings.get(tid);
    if (!drawing) return;
    if (place !== drawing.nodes.length) drawing.isWhole = false;
    drawing.nodes.push({ address, tensor: this.find(pid, address) });
  }

  graphEnds({ at, pid, tid }: Event, out: SpanSink): void {
    const drawing = this.#drawings.get(tid);
    this.#drawings.delete(tid);
    if (!drawing?.isWhole) return;
    let places = this.#places.get(pid);
    if (!places) this.#places.set(pid, places = new Map());
    let before: Sum | undefined;
    for (const { address, tensor } of drawing.nodes) {
      const known = places.get(address)?.sum;
      const sum = known && known.tensor === tensor ? known : newSum(pid, tensor);
      if (known && known !== sum) this.#tell(known, at, out);
      places.set(address, { sum, before });
      before = sum;
    }
    places.set(drawing.address, { sum: undefined, before });
  }

  end(at: Ns, out: SpanSink): void {
    const sums = new Set(this.#unknown.values());
    for (const places of this.#places.values()) {
      for (const { sum, before } of places.values()) for (const one of [sum, before]) if (one) sums.add(one);
    }
    for (const sum of sums) this.#tell(sum, at, out);
    this.#places.clear();
    this.#drawings.clear();
    this.#unknown.clear();
  }

  #unknownOf(pid: number): Sum {
    let sum = this.#unknown.get(pid);
    if (!sum) this.#unknown.set(pid, sum = newSum(pid, undefined));
    return sum;
  }

  /** What comes behind that is told again, on its own. */
  #tell(sum: Sum, at: Ns, out: SpanSink): void {
    const { pid, tensor, calls, timed, ns, startNs } = sum;
    if (calls === 0 && timed === 0) return;
    const of = tensor ? linkOf(tensor, 0).args! : { worker: 0 };
    const track = this.tracks.lane(pid, "sums of operators", 4);
    const name = tensor?.label ?? "unknown operator";
    out({ type: "instant", track, name, category: "ggml.sum", at, args: { ...of, calls, ns }, sum: { of, calls, timed, ns, startNs } });
    Object.assign(sum, { calls: 0, timed: 0, ns: 0, startNs: 0 });
  }
}

function newSum(pid: number, tensor: Tensor | undefined): Sum {
  return { pid, tensor, calls: 0, timed: 0, ns: 0, startNs: 0 };
}
