import type { Ns } from "../../lib/events/time.ts";
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
  readonly began: Ns;
  readonly at: Ns;
  readonly stack: number | undefined;
}
