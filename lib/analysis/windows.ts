import type { Mark } from "../events/span.ts";
import type { Ns } from "../events/time.ts";

/** When a run watched its target: once, or once for each life and turn of it. A window lasts from its first stream's opening to the last one's end. */
export class Windows {
  /** When the first one opened. */
  begin: Ns | undefined;
  #from: Ns = NaN;
  #to: Ns = NaN;
  /** What opens now belongs to the next one; what closes, to this one still. */
  #over = false;
  #count = 0;
  #ns = 0;

  mark(mark: Mark): void {
    if (mark.kind === "ended") this.#over = true;
    if (mark.kind !== "window") return;
    if (mark.open) this.begin ??= mark.at;
    if (mark.open && this.#over) this.#end();
    if (Number.isNaN(this.#from)) this.#from = mark.at;
    this.#to = mark.at;
  }

  /** `ns`: of all together. */
  result(): { count: number; ns: number } {
    this.#end();
    return { count: this.#count, ns: this.#ns };
  }

  #end(): void {
    if (Number.isNaN(this.#from)) return;
    this.#count++;
    this.#ns += this.#to - this.#from;
    this.#from = NaN;
    this.#over = false;
  }
}
