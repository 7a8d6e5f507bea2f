import type { ByteSink, OpenExporter, TraceHead } from "../../lib/events/exporter.ts";
import type { Span } from "../../lib/events/span.ts";
import type { View } from "../../lib/events/view.ts";

/** A sink that keeps what it gets, as it came. */
export class MemorySink implements ByteSink {
  readonly blocks: Uint8Array<ArrayBuffer>[] = [];
  closed = 0;

  write(bytes: Uint8Array): void {
    // Bytes are only lent: the writer uses its buffer again.
    this.blocks.push(bytes.slice());
  }

  close(): void {
    this.closed++;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.blocks.reduce((sum, block) => sum + block.length, 0));
    let at = 0;
    for (const block of this.blocks) {
      all.set(block, at);
      at += block.length;
    }
    return all;
  }

  text(): string {
    return new TextDecoder("utf-8", { fatal: true }).decode(this.bytes());
  }
}

/** Spans through an exporter. */
export function exported(open: OpenExporter, head: TraceHead, spans: Iterable<Span>, views: readonly View[] = []): MemorySink {
  const sink = new MemorySink();
  const exporter = open(sink, head);
  for (const span of spans) exporter.span(span);
  exporter.close(views);
  return sink;
}
