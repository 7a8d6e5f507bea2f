import { whoIs } from "../../lib/programs/who.ts";

/** Lines as a program prints them, of lines that can be read: `10 5 42/43 7` for thread 43 of process 42. */
export function printed(text: string): string {
  return text.replace(/(?<=[ (])(\d+)\/(\d+)(?=[ ,)]|$)/gm, (_, pid, tid) => String(whoIs(Number(pid), Number(tid))));
}
