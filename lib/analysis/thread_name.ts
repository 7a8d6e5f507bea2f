import type { Name } from "../events/span.ts";
import { lastPart } from "../events/text.ts";

/** What threads call themselves, as far as they told. One of another process may have the number of one that ended. */
export class ThreadNames {
  readonly #names = new Map<string, string>();

  /** A process is called by its program: so is its first thread. */
  name({ track: { kind, pid, tid }, name }: Name): void {
    if (kind === "process") this.#names.set(`${pid} ${pid}`, lastPart(name));
    else if (kind === "thread" && tid !== undefined) this.#names.set(`${pid} ${tid}`, name);
  }

  /** Empty where it is not known. */
  of(pid: number, tid: number): string {
    return this.#names.get(`${pid} ${tid}`) ?? "";
  }
}

/** How tables call a thread: `llama-server 4711 main`, `4712` where it never told its name. */
export function threadName({ pid, tid, name }: { readonly pid: number; readonly tid: number; readonly name: string }): string {
  return [name, tid === pid ? `${tid} main` : String(tid)].filter((word) => word !== "").join(" ");
}
