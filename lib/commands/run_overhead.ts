import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { Span } from "../events/span.ts";
import { percent } from "../events/text.ts";
import type { Calibration } from "../machine/calibration.ts";
import { type Detail, detailsOf } from "../programs/detail.ts";
import type { Probe } from "../programs/probe.ts";
import { Decodes } from "../session/decodes.ts";
import type { Means } from "../session/means.ts";
import { measuredOverhead } from "../session/measured.ts";
import { OverheadWatch, type Prediction } from "../session/overhead_watch.ts";
import type { Session } from "../session/session.ts";
import { sideLook } from "../session/side_look.ts";
import type { StatusLine } from "../session/status.ts";
import type { Target } from "../session/target.ts";
import { TargetCpu } from "../session/target_cpu.ts";
import { calibrationText, readCalibration } from "./calibrated.ts";
import { type Limited, nextStep, onTop, unchecked, withinLimit } from "./max_overhead.ts";
import type { Unpriced } from "./profile.ts";

export interface OverheadOptions {
  readonly tree: boolean;
  /** The most that is asked for. */
  readonly detail: Detail;
  readonly bufferPages: number;
  /** A fraction of the target's own CPU time: less is seen, or nothing, where more is predicted. */
  readonly maxOverhead?: number;
  /** Measures anew what a hit costs. */
  readonly calibrate?: true;
}

/** What a run costs its target: what may be seen for that, what is predicted while it runs, and what is told at its end. */
export class RunOverhead {
  /** What is seen. */
  readonly detail: Detail;
  readonly #means: Means;
  readonly #calibration: Calibration;
  readonly #options: OverheadOptions;
  readonly #limited: Limited | null;
  /** Probes whose cost is predicted. */
  readonly #priced: readonly Probe[];
  readonly #unpriced: Unpriced;
  readonly #cpu: TargetCpu;
  readonly #status: StatusLine;
  readonly #decodes: Decodes;
  #predict: () => Promise<Prediction | null> = () => Promise.resolve(null);

  private constructor(
    means: Means,
    calibration: Calibration,
    priced: readonly Probe[],
    unpriced: Unpriced,
    options: OverheadOptions,
    limited: Limited | null,
    status: StatusLine,
  ) {
    this.detail = limited?.detail ?? options.detail;
    this.#means = means;
    this.#calibration = calibration;
    this.#options = options;
    this.#limited = limited;
    this.#priced = priced;
    this.#unpriced = unpriced;
    this.#decodes = new Decodes(limited?.look?.decodes.length ?? 0);
    this.#cpu = new TargetCpu(means, options.tree);
    this.#status = status;
  }

  /**
   * Measures what a hit costs here where that is asked for, and looks at a target that runs where it has a limit: a second. Both end when `stop`
   * resolves. Throws, with exit code 4, where even the least would cost more than the limit.
   */
  static async before(
    means: Means,
    target: Target | null,
    probes: readonly Probe[],
    options: OverheadOptions,
    status: StatusLine,
    stop: Promise<unknown>,
    unpriced: Unpriced = { layers: [], probes: [] },
  ): Promise<RunOverhead> {
    const { tree, detail, bufferPages, maxOverhead, calibrate } = options;
    const others = namesOf(unpriced), priced = probes.filter(({ name }) => !others.has(name));
    const wish = calibrate ? "now" : maxOverhead === undefined || priced.length === 0 ? "kept" : "needed";
    const calibration = await readCalibration(means, bufferPages, wish, () => status.progress({ state: "calibrating" }), stop);
    if (calibrate && calibration.measured) status.note(calibrationText(calibration));
    const limited = async (limit: number): Promise<Limited> => {
      if (priced.length === 0) return { detail, notes: [], look: null };
      if (target?.type !== "running") return { detail, notes: [unchecked(limit, "the target did not run yet")], look: null };
      status.progress({ state: "looking" });
      return await withinLimit(means, target, priced, limit, calibration, { tree, detail, bufferPages, stop });
    };
    const chosen = maxOverhead === undefined ? null : onTop(await limited(maxOverhead), maxOverhead, unpriced.layers);
    for (const note of chosen?.notes ?? []) status.note(note);
    return new RunOverhead(means, calibration, priced, unpriced, options, chosen, status);
  }

  /** What to type where it costs so much and that is too much. A target that was not looked at runs by then, and can be. */
  cheaper(overhead: number): string {
    if (this.#limited?.look) return nextStep(this.detail, detailsOf(this.#priced, this.#options.detail), overhead);
    return "Try it on the running process with --pid: it is looked at first, and less is attached";
  }

  /** What is measured needs a look to be compared with, and sums are told by nobody else. */
  span(span: Span): void {
    if (this.#limited?.look || this.detail === "sum") this.#decodes.span(span);
  }

  /** Every event of the target: of a thread that has ended its CPU time is kept. */
  heard(event: Event): void {
    if (event.record === "process/life.exit") this.#cpu.exited(event);
  }

  /** Tells what is predicted, and whether that is too much, a second after `counting` has resolved, unless `stop` has. `facts`: what the run has told so far. */
  follow(session: Session, facts: readonly Fact[], counting: Promise<unknown>, stop: Promise<unknown>): void {
    if (this.#priced.length === 0) return;
    const calibration = this.#calibration, unpriced = this.#unpriced.layers;
    const watch = new OverheadWatch(this.#means, calibration, this.#cpu, facts, this.#decodes, namesOf(this.#unpriced));
    let over = false;
    void stop.then(() => over = true);
    void counting.then(() => sideLook(watch.begun(session.tops, session.timeline!, () => over), null)).then((prediction) => {
      if (!prediction) return;
      this.#status.progress({ state: "predicted", ...prediction, unpriced, calibrated: calibration.measured });
      const { maxOverhead = Infinity } = this.#options, { overhead } = prediction;
      if (overhead <= maxOverhead) return;
      const text = `tracing costs more (${percent(overhead)} predicted) than --max-overhead ${percent(maxOverhead)} allows`;
      this.#status.note(`Warning: ${text}. ${this.cheaper(overhead)}`);
      session.tell({ fact: "note", text });
    });
    this.#predict = () => watch.predict(session.tops, session.timeline!);
  }

  /** What the recording is told at its end. */
  async conclude(): Promise<Fact[]> {
    const { notes = [], look } = this.#limited ?? {};
    const predicted = (await sideLook(this.#predict(), null))?.overhead ?? null;
    const measured = look ? measuredOverhead(look.decodes, this.#decodes.decodes) : null;
    const { layers } = this.#unpriced;
    const hasDetails = look && this.#priced.some(({ details }) => details);
    const overhead: Fact = {
      fact: "overhead",
      predicted,
      measured,
      calibrated: this.#calibration.measured,
      ...(layers.length > 0 && { unpriced: layers }),
      ...(hasDetails && { details: Object.fromEntries(look.predicted) }),
    };
    return [...notes.map((text): Fact => ({ fact: "note", text })), overhead];
  }

  /** Nothing of the look is left. */
  async ended(): Promise<void> {
    await this.#limited?.look?.ended;
  }
}

function namesOf({ probes }: Unpriced): Set<string> {
  return new Set(probes.map(({ name }) => name));
}
