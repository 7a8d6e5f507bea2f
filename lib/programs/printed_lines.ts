import type { Field } from "../events/event.ts";
import { fitsShort, isShort, shortNumber } from "./short_line.ts";
import { WHO } from "./who.ts";

const FORMAT = { int: "%lld", time: "%llu", text: "%rh" } as const;
/** What a bpftrace that has no `%rh` has: see tracing/escaped_texts.ts. */
const ESCAPED = { ...FORMAT, text: "%r" } as const;

/**
 * The usual way of a record out of the kernel: a line, `<kind> <nsecs> <who> <field…>` (see who.ts). It is written into the buffer that bpftrace reads;
 * what is dear is waking bpftrace, which is why its reader is kept stopped where there is a ring buffer (see tracing/paused_reader.ts). `shortens`: an
 * address that allows it is told in the short form (see short_line.ts). `escapes`: texts are not printed as hexadecimal numbers.
 */
export function printLine(kind: number, fields: readonly Field[], values: readonly string[], shortens: boolean, escapes: boolean): string {
  const format = fields.map((f) => " " + (escapes ? ESCAPED : FORMAT)[f.type]).join("");
  const line = `printf("${kind} %llu %llu${format}\\n", ${["nsecs", WHO, ...values].join(", ")})`;
  if (!shortens || !isShort(fields)) return line;
  const [address] = values as [string];
  return `(${fitsShort(address)}) ? printf("${kind} %llu x%llx\\n", nsecs, ${shortNumber(address)}) : ${line}`;
}
