import { slicesOf } from "../lib/events/chain.ts";
import type { ByteSink, Exporter, OpenExporter, TraceHead } from "../lib/events/exporter.ts";
import type { Args, Span, Track } from "../lib/events/span.ts";
import type { Ns } from "../lib/events/time.ts";
import { TextBlocks } from "./blocks.ts";
import { ChromeRows } from "./chrome/rows.ts";
import { micros } from "./decimal.ts";
import { type DrawnSlice, GraphArrows } from "./graph/arrows.ts";
import { toJson } from "./json.ts";
import { Nesting } from "./nesting.ts";

/**
 * Readers take a time as floating point, so since the boot it would be off by nanoseconds after some weeks: neighbours then overlap, and
 * trace_processor drops them. It drops negative times in silence, too, and a process may be older than the run. Ten days are far from both.
 */
const margin = 10n * 86_400_000_000_000n;

/** Without it trace_processor refuses the whole file: `JSON trace file is incomplete`. */
const end = "\n]}\n";
/** JSON allows it in a text as it is; trace_processor refuses the whole file. */
const DELETE = "\x7f";

/**
 * Chrome's JSON (`.json`), which Perfetto opens too. Times are microseconds, exact to the nanosecond, of CLOCK_BOOTTIME since
 * `otherData.clockBase`: 0 where the machine is up for less than ten days, otherwise ten days before the run. Views are not written.
 */
export const openChrome: OpenExporter = (sink, head) => new ChromeExporter(sink, head);

class ChromeExporter implements Exporter {
  readonly #out: TextBlocks;
  readonly #rows = new ChromeRows((row, key, args) => this.#event(`"ph":"M","name":"${key}",${row},"args":${toJson(args)}`));
  readonly #nesting = new Nesting<DrawnSlice>((slice, track) => this.#slice(slice, track));
  readonly #arrows = new GraphArrows();
  /** Nanoseconds from the origin of the file's times to the run's base. */
  readonly #offset: number;
  #first = true;

  constructor(sink: ByteSink, head: TraceHead) {
    this.#out = new TextBlocks(sink);
    const { llmprof, command, clock, facts } = head;
    const origin = clock.base > margin ? clock.base - margin : 0n;
    this.#offset = Number(clock.base - origin);
    const otherData = { ...facts, llmprof, command, clock: clock.name, clockBase: String(origin), realtimeOffset: String(clock.realtimeOffset) };
    this.#out.write(`{"displayTimeUnit":"ns","otherData":${toJson(otherData)},"traceEvents":[`.replaceAll(DELETE, "\\u007f"));
  }

  span(span: Span): void {
    this.#tell(span);
    if (this.#out.isFull) this.flush();
  }

  #tell(span: Span): void {
    switch (span.type) {
      case "slice":
        // The row is named when it is first heard of, not when its first slice is let go: a tail must not be the first to mention it.
        return void this.#rows.of(this.#nesting.add(this.#arrows.of(span)));
      case "chain":
        return slicesOf(span).forEach((slice) => this.#tell(slice));
      case "instant":
        return this.#instant(span.at, this.#rows.of(span.track), span.category, span.name, span.args);
      case "counter": {
        const { name, unit, pid } = span.track;
        // The key names the series; a value that is no number cannot be drawn, but its time can.
        const args = `{${JSON.stringify(unit ?? "value")}:${toJson(span.value)}}`;
        return this.#event(`"ph":"C","name":${JSON.stringify(name)},"ts":${this.#time(span.at)},${this.#rows.process(pid)},"args":${args}`);
      }
      case "name":
        return this.#rows.rename(span.track, span.name);
      case "mark": {
        const { kind, stream, text, count } = span;
        return this.#instant(span.at, this.#rows.run(), `llmprof.${kind}`, text, count === undefined ? { stream } : { stream, count });
      }
    }
  }

  flush(): void {
    const first = this.#first;
    this.#out.tail(() => {
      this.#nesting.show();
      this.#out.write(end);
    });
    this.#first = first;
  }

  close(): void {
    this.#nesting.flush();
    this.#out.write(end);
    this.#out.close();
  }

  #slice(slice: DrawnSlice, track: Track): void {
    const { name, category, start, end, open, arrows } = slice;
    const args = open ? { ...slice.args, open } : slice.args;
    const times = `"ts":${this.#time(start)},"dur":${micros(Math.round(end) - Math.round(start))}`;
    this.#event(`"ph":"X","name":${JSON.stringify(name)},"cat":${JSON.stringify(category)},${times},${this.#rows.of(track)}${written(args)}`);
    if (!arrows) return;
    // Each is bound to the slice that lies around its time.
    const where = `"name":"computed from","cat":"ggml.graph","ts":${this.#time(start)},${this.#rows.of(track)}`;
    for (const arrow of arrows.begin) this.#event(`"ph":"s","id":${arrow},${where}`);
    for (const arrow of arrows.end) this.#event(`"ph":"f","bp":"e","id":${arrow},${where}`);
  }

  #instant(at: Ns, row: string, category: string, name: string, args: Args | undefined): void {
    const what = `"name":${JSON.stringify(name)},"cat":${JSON.stringify(category)}`;
    this.#event(`"ph":"i","s":"t",${what},"ts":${this.#time(at)},${row}${written(args)}`);
  }

  #time(at: Ns): string {
    return micros(this.#offset + at);
  }

  #event(fields: string): void {
    const written = fields.includes(DELETE) ? fields.replaceAll(DELETE, "\\u007f") : fields;
    this.#out.write(this.#first ? `\n{${written}}` : `,\n{${written}}`);
    this.#first = false;
  }
}

function written(args: Args | undefined): string {
  return args ? `,"args":${toJson(args)}` : "";
}
