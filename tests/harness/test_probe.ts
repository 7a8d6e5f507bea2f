import type { Probe } from "../../lib/programs/probe.ts";
import type { StreamSchema } from "../../lib/programs/schema.ts";
import { OpenSlices } from "../../lib/timeline/open_slices.ts";

/** The smallest probe that has everything: a hit is an instant, begin and end make a slice, a map is a counter. */
export const testProbe: Probe = {
  name: "t/p",
  summary: "",
  template: "",
  records: { hit: [{ name: "x", type: "int" }], begin: [], end: [] },
  maps: { sum: { key: [], unit: "bytes" } },
  decoder: (tracks) => {
    const open = new OpenSlices();
    return {
      event({ at, pid, tid, record, values }, out) {
        const track = tracks.thread(pid, tid);
        if (record === "t/p.begin") return open.begin(`${tid}`, { track, name: "f", category: "call", start: at, args: undefined }, out);
        if (record === "t/p.end") return void open.end(`${tid}`, at, out);
        out({ type: "instant", track, name: `${values[0]}`, category: "hit", at });
      },
      snapshot: ({ at, value }, out) => out({ type: "counter", track: tracks.counter(1, "sum", "bytes"), at, value }),
      end: (at, out) => open.closeAll(at, out),
    };
  },
};

/** What a program with that probe would declare: lines of kind 10 hit, 11 begin, 12 end. */
export function testSchema(stream: string, disorderNs = 0): StreamSchema {
  const records = {
    1: { name: "window.open", fields: [] },
    2: { name: "window.close", fields: [] },
    3: { name: "clock", fields: [] },
    10: { name: "t/p.hit", fields: testProbe.records.hit! },
    11: { name: "t/p.begin", fields: [] },
    12: { name: "t/p.end", fields: [] },
    // As the program that follows a tree prints new processes.
    13: { name: "process/life.task", fields: [{ name: "id", type: "int" }, { name: "isThread", type: "int" }] },
  } as const;
  return { stream, records, maps: { sum: "t/p.sum" }, disorderNs };
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
