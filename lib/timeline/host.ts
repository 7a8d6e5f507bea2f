import type { Fact } from "../events/fact.ts";
import { Kind, type StreamSchema } from "../programs/schema.ts";

/** The stream of llmprof itself: facts as JSON, in the same line format as every other stream. */
export const hostSchema: StreamSchema = {
  stream: "host",
  records: { [Kind.first]: { name: "host.fact", fields: [{ name: "json", type: "text" }] } },
  maps: {},
  disorderNs: 0,
};

/** `boottime` is absolute. */
export function factLine(fact: Fact, boottime: bigint): string {
  const hex = [...new TextEncoder().encode(JSON.stringify(fact))].map((b) => b.toString(16).padStart(2, "0")).join(" ");
  return `${Kind.first} ${boottime} 0 ${hex}\n`;
}

/** A heartbeat of the host stream: nothing older follows. */
export function beatLine(boottime: bigint): string {
  return `(9, ${boottime})\n`;
}
