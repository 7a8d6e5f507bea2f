import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { Span } from "../events/span.ts";
import type { Calibration } from "../machine/calibration.ts";
import type { Detail } from "../programs/detail.ts";
import type { Probe } from "../programs/probe.ts";
import { Decodes } from "../session/decodes.ts";
import type { Means } from "../session/means.ts";
import { measuredOverhead } from "../session/measured.ts";
import { OverheadWatch, type Prediction } from "../session/overhead_watch.ts";
import type { Session } from "../session/session.ts";
import type { StatusLine } from "../session/status.ts";
import type { Target } from "../session/target.ts";
import { TargetCpu } from "../session/target_cpu.ts";
import { calibrationText, readCalibration } from "./calibrated.ts";
import { type Limited, withinLimit } from "./max_overhead.ts";

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
  readonly #limited: Limited | null;
  readonly #cpu: TargetCpu;
  readonly #status: StatusLine;
  readonly #decodes: Decodes;
  #predict: () => Promise<Prediction | null> = () => Promise.resolve(null);

  private constructor(means: Means, calibration: Calibration, detail: Detail, limited: Limited | null, cpu: TargetCpu, status: StatusLine) {
    this.detail = detail;
    this.#means = means;
    this.#calibration = calibration;
    this.#limited = limited;
    this.#decodes = new Decodes(limited !== null);
    this.#cpu = cpu;
    this.#status = status;
  }

  /**
   * Measures what a hit costs here where that is asked for, and looks at a target that runs where it has a limit: a second, or until `stop`
   * resolves. Throws, with exit code 4, where even the least would cost more than the limit.
   */
  static async before(
    means: Means,
    target: Target | null,
    probes: readonly Probe[],
    options: OverheadOptions,
    status: StatusLine,
    stop: Promise<unknown>,
  ): Promise<RunOverhead> {
    const { tree, detail, bufferPages, maxOverhead, calibrate } = options;
    const wish = calibrate ? "now" : maxOverhead === undefined ? "kept" : "needed";
    const calibration = await readCalibration(means, bufferPages, wish, () => status.progress({ state: "calibrating" }));
    if (calibrate) status.note(calibrationText(calibration));
    const cpu = new TargetCpu(means, tree);
    if (maxOverhead === undefined || target?.type !== "running") return new RunOverhead(means, calibration, detail, null, cpu, status);
    status.progress({ state: "looking" });
    const limited = await withinLimit(means, target, probes, maxOverhead, calibration, { tree, detail, bufferPages, stop });
    if (limited.note !== null) status.note(limited.note);
    return new RunOverhead(means, calibration, limited.detail, limited, cpu, status);
  }

  /** What is measured needs a look to be compared with, and sums are told by nobody else. */
  span(span: Span): void {
    if (this.#limited || this.detail === "sum") this.#decodes.span(span);
  }

  /** Every event of the target: of a thread that has ended its CPU time is kept. */
  heard(event: Event): void {
    if (event.record === "process/life.exit") this.#cpu.exited(event);
  }

  /** Tells what is predicted a second after `counting` has resolved, unless `stop` has. `facts`: what the run has told so far. */
  follow(session: Session, facts: readonly Fact[], counting: Promise<unknown>, stop: Promise<unknown>): void {
    const calibration = this.#calibration;
    const watch = new OverheadWatch(this.#means, calibration, this.#cpu, facts, this.#decodes);
    let over = false;
    void stop.then(() => over = true);
    void counting.then(() => watch.begun(topsOf(session), session.timeline!, () => over)).then((prediction) => {
      if (prediction) this.#status.progress({ state: "predicted", ...prediction, calibrated: calibration.measured });
    });
    this.#predict = () => watch.predict(topsOf(session), session.timeline!);
  }

  /** What the recording is told at its end. */
  async conclude(): Promise<Fact[]> {
    const { note, look } = this.#limited ?? {};
    const predicted = (await this.#predict())?.overhead ?? null;
    const measured = look ? measuredOverhead(look.decodes, this.#decodes.decodes) : null;
    const overhead: Fact = { fact: "overhead", predicted, measured, calibrated: this.#calibration.measured };
    return note ? [{ fact: "note", text: note }, overhead] : [overhead];
  }

  /** Nothing of the look is left. */
  async ended(): Promise<void> {
    await this.#limited?.look?.ended;
  }
}

/** The processes at the top of the target. */
function topsOf({ options: { target }, pid }: Session): readonly number[] {
  return target.type === "running" ? target.pids : pid === undefined ? [] : [pid];
}
