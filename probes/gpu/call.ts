import type { GpuCall } from "../../lib/events/gpu.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Place } from "./devices.ts";
import type { Family, Signature } from "./signatures.ts";

/** A call that returned. */
export interface Call {
  readonly family: Family;
  readonly signature: Signature;
  /** What was said of it, by the words of its signature. */
  readonly said: ReadonlyMap<string, number>;
  readonly failure: string | null;
  readonly pid: number;
  readonly tid: number;
  /** The stream without a name is the thread's. */
  readonly perThread: boolean;
  readonly began: Ns;
  readonly at: Ns;
  readonly stack: number | undefined;
}

/** One that did what it was asked for: a GPU was given something to do, or waited for. */
export interface Done extends Pick<Call, "signature" | "pid" | "tid" | "perThread" | "began" | "at"> {
  readonly gpu: GpuCall;
  readonly place: Place;
  /** For calls about an event. */
  readonly event: number | undefined;
  /** For calls that make a stream, where they say any. */
  readonly flags: number | undefined;
}
