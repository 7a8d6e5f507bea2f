import type { Activity } from "./activity.ts";
import { join } from "./join.ts";

/** Between two tokens an engine does what it does with a token. */
const GAP_NS = 20e6;
/** A server that generates now and then for days keeps no more stretches than this. */
const MOST = 1000;

/**
 * What comes after the first token, in a few long stretches: generation goes on for as long as a server lives, and of a start it is only told
 * that it explains its time.
 */
export class Generation {
  readonly activities: Activity[] = [];

  /** Activities come in the order in which they end. */
  add(activity: Activity): void {
    const last = this.activities.at(-1);
    const goesOn = last && (activity.start - last.end <= GAP_NS || this.activities.length >= MOST);
    if (goesOn) join(last, activity);
    else this.activities.push({ ...activity, kind: "decode", family: "generation" });
  }
}
