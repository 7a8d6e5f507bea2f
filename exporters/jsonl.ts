import { slicesOf } from "../lib/events/chain.ts";
import type { ByteSink, Exporter, OpenExporter, TraceHead } from "../lib/events/exporter.ts";
import type { Span, Track } from "../lib/events/span.ts";
import type { View } from "../lib/events/view.ts";
import { TextBlocks } from "./blocks.ts";
import { absolute } from "./decimal.ts";
import { toJson } from "./json.ts";

/**
 * One JSON object a line (`.jsonl`), each with a `type`: first `head`, then the spans in the order in which they end (operators of a row together, 20 ms of
 * them at most), at last each `view`.
 *
 * Times (`start`, `end`, `at`) are absolute CLOCK_BOOTTIME in nanoseconds as decimal text: as numbers they may be above 2^53, where most
 * readers round in silence. `duration` is the same difference as a number. A track stands in full on each line, so that lines can be cut,
 * filtered and joined without the ones before them.
 */
export const openJsonl: OpenExporter = (sink, head) => new JsonlExporter(sink, head);

class JsonlExporter implements Exporter {
  readonly #out: TextBlocks;
  readonly #absolute: ReturnType<typeof absolute>;
  readonly #tracks = new Map<Track, string>();

  constructor(sink: ByteSink, head: TraceHead) {
    this.#out = new TextBlocks(sink);
    this.#absolute = absolute(head.clock);
    const { name, base, realtimeOffset } = head.clock;
    this.#line({ type: "head", ...head, clock: { name, base: String(base), realtimeOffset: String(realtimeOffset) } });
  }

  span(span: Span): void {
    this.#tell(span);
    if (this.#out.isFull) this.flush();
  }

  #tell(span: Span): void {
    switch (span.type) {
      case "slice": {
        const { name, category, start, end, args, open } = span;
        const times = `"start":"${this.#absolute(start)}","end":"${this.#absolute(end)}","duration":${Math.round(end) - Math.round(start)}`;
        const rest = (args ? `,"args":${toJson(args)}` : "") + (open ? `,"open":true` : "");
        return this.#out.write(
          `{"type":"slice",${times},"name":${JSON.stringify(name)},"category":${JSON.stringify(category)},"track":${
            this.#track(span.track)
          }${rest}}\n`,
        );
      }
      case "chain":
        return slicesOf(span).forEach((slice) => this.#tell(slice));
      case "mark": {
        const { at, kind, stream, text, count, open } = span;
        return this.#line({ type: "mark", at: this.#absolute(at), kind, stream, text, count, open });
      }
      case "instant": {
        const rest = span.args ? `,"args":${toJson(span.args)}` : "";
        return this.#at(span.type, span.at, span.track, `"name":${JSON.stringify(span.name)},"category":${JSON.stringify(span.category)}${rest}`);
      }
      case "counter":
        return this.#at(span.type, span.at, span.track, `"value":${toJson(span.value)}`);
      case "name":
        return this.#at(span.type, span.at, span.track, `"name":${JSON.stringify(span.name)}`);
    }
  }

  flush(): void {
    this.#out.tail(() => {});
  }

  close(views: readonly View[]): void {
    for (const view of views) this.#line({ type: "view", view });
    this.#out.close();
  }

  #at(type: string, at: number, track: Track, rest: string): void {
    this.#out.write(`{"type":"${type}","at":"${this.#absolute(at)}",${rest},"track":${this.#track(track)}}\n`);
  }

  #track(track: Track): string {
    let text = this.#tracks.get(track);
    if (text === undefined) {
      const { kind, name, pid, tid, unit } = track;
      this.#tracks.set(track, text = JSON.stringify({ kind, name, pid, tid, unit }));
    }
    return text;
  }

  #line(value: unknown): void {
    this.#out.write(`${toJson(value)}\n`);
  }
}
