import { quantity } from "../events/quantity.ts";
import { counted } from "../events/text.ts";
import type { Mark } from "../events/span.ts";
import type { Note } from "../events/view.ts";

/** What makes figures of a result less than they were, or more. */
export interface Quality {
  readonly lostEvents: number;
  readonly undecodableLines: number;
}

/** Adds up the trace's own marks. */
export class QualityCount {
  #lost = 0;
  #undecodable = 0;

  mark(mark: Mark): void {
    if (mark.kind === "lost") this.#lost += mark.count ?? 1;
    if (mark.kind === "undecodable") this.#undecodable += mark.count ?? 1;
  }

  result(): Quality {
    return { lostEvents: this.#lost, undecodableLines: this.#undecodable };
  }
}

/** `meaning`: what a lost event does to the figures. */
export function qualityNotes({ lostEvents, undecodableLines }: Quality, meaning = "counts and times are lower bounds"): Note[] {
  const notes: Note[] = [];
  if (lostEvents > 0) notes.push(warning(`${counted(lostEvents, "event")} ${lostEvents === 1 ? "was" : "were"} lost: ${meaning}.`));
  if (undecodableLines > 0) {
    notes.push(warning(`${counted(undecodableLines, "line")} could not be decoded: what they reported is missing.`));
  }
  return notes;
}

/** What a figure is of, where the target was watched more than once. */
export function turnsNotes({ count, ns }: { readonly count: number; readonly ns: number }): Note[] {
  return count > 1 ? [info(`Watched ${count} times, ${quantity(ns, "ns")} in all: the figures are of these.`)] : [];
}

export function warning(text: string): Note {
  return { type: "note", level: "warning", text };
}

export function info(text: string): Note {
  return { type: "note", level: "info", text };
}
