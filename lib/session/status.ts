import { harmless, percent, shortened, without } from "../events/text.ts";
import type { Pseudonyms } from "../timeline/pseudonyms.ts";
import type { Progress } from "./progress.ts";

export const measuringText = "Measuring this machine…";

/** `predicted overhead 1.2 % at 25,000 hits/s`, and whether that is more than a guess. */
function predictionText({ overhead, hitsPerSecond, unpriced, calibrated }: Extract<Progress, { state: "predicted" }>): string {
  const guess = calibrated ? "" : " (uncalibrated: llmprof doctor --calibrate measures what a hit costs here)";
  return `Predicted overhead ${percent(overhead)}${without(unpriced)} at ${Math.round(hitsPerSecond).toLocaleString("en-US")} hits/s${guess}.`;
}

/** The screen that a status line needs: see Terminal in commands. */
export interface StatusScreen {
  err(text: string): void;
}

/** Tells on standard error what a run is doing. */
export class StatusLine {
  /** One turn is like another. */
  #inTurns = false;

  constructor(readonly screen: StatusScreen, readonly quiet: boolean, readonly pseudonyms?: Pseudonyms) {}

  /** Also told where no progress is wanted: a warning, or what was asked for. */
  note(text: string): void {
    this.screen.err(`${harmless(text)}\n`);
  }

  progress(progress: Progress): void {
    switch (progress.state) {
      case "attaching":
        return this.#inTurns ? undefined : this.#say(`Attaching${progress.to ? ` to ${this.#described(progress.to)}` : ""}…`);
      case "waiting":
        return this.#say("Waiting for the next inference process to start. Ctrl-C ends.");
      case "passed": {
        const why = progress.why ?? "It mapped an engine's library and ended without computing.";
        return this.#say(`Process ${progress.pid} is passed over. ${this.pseudonyms?.prose(why) ?? why} Still waiting.`);
      }
      case "counting":
        if (progress.learns) return this.#say(`Learning which operators process ${progress.pid} runs. Ctrl-C ends.`);
        return this.#inTurns ? undefined : this.#say(`Tracing ${nameOf(progress.pid)} with ${progress.sites} probes. Ctrl-C ends and writes.`);
      case "gate":
        return this.#say(`Process ${progress.pid} stood ${Math.round(progress.milliseconds)} ms (${progress.what}) while probes were attached.`);
      case "again":
        return this.#say(`Process ${progress.pid} ended. Waiting for the next one that matches. Ctrl-C ends and writes.`);
      case "resting":
        if (!this.#inTurns) this.#say(`Process ${progress.pid} is left alone now, and watched again in turns. Ctrl-C ends and writes.`);
        this.#inTurns = true;
        return;
      case "turn":
        this.#inTurns = !progress.lasts;
        return this.#say(`${progress.why[0]!.toUpperCase()}${progress.why.slice(1)}.`);
      case "left":
        return this.#left(progress.pid, progress.end);
      case "looking":
        return this.#say("Looking at the target for a second before anything is attached to its operators…");
      case "calibrating":
        return this.#say(measuringText);
      case "predicted":
        return this.#say(predictionText(progress));
      case "draining":
        return this.#say("Reading what is left…");
    }
  }

  /** Of several that a name could mean, the one that was found. */
  #described({ pid, argv }: { readonly pid: number; readonly argv: readonly string[] }): string {
    const line = (this.pseudonyms?.argv(argv) ?? argv).join(" ");
    return pid === 1 || line === "" ? nameOf(pid) : `${nameOf(pid)} (${shortened(line)})`;
  }

  #left(pid: number, end: { readonly code: number; readonly signal: string | null } | null): void {
    if (!end) this.note(`Process ${pid} goes on.`);
    else if (end.signal) this.note(`The program was ended by ${end.signal}.`);
    else if (end.code !== 0) this.note(`The program ended with code ${end.code}.`);
  }

  #say(text: string): void {
    if (!this.quiet) this.note(text);
  }
}

/** The first process and all that it has started is everybody. */
function nameOf(pid: number): string {
  return pid === 1 ? "the whole machine" : `process ${pid}`;
}
