import type { Decoder } from "../events/event.ts";
import type { Probe } from "./probe.ts";

/** The decoder of a probe whose records others understand, or that has none. */
export const silent = (): Decoder => ({ event() {}, end() {} });

/** A probe that is asked for and has nothing of its own: the template of another one reads what it wants where a program has it, too. */
export function asking(probe: Pick<Probe, "name" | "summary" | "asked" | "library" | "details">): Probe {
  return { ...probe, template: "", records: {}, decoder: silent };
}
