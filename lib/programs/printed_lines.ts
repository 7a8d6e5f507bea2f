import type { Field } from "../events/event.ts";
import { WHO } from "./who.ts";

const FORMAT = { int: "%lld", time: "%llu", text: "%rh" } as const;

/**
 * The usual way of a record out of the kernel: a line, `<kind> <nsecs> <who> <field…>` (see who.ts). It is written into the buffer that bpftrace reads;
 * what is dear is waking bpftrace, which is why its reader is kept stopped where there is a ring buffer (see tracing/paused_reader.ts).
 */
export function printLine(kind: number, fields: readonly Field[], values: readonly string[]): string {
  const format = fields.map((f) => " " + FORMAT[f.type]).join("");
  return `printf("${kind} %llu %llu${format}\\n", ${["nsecs", WHO, ...values].join(", ")})`;
}
