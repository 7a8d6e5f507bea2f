import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { Tracks } from "../../lib/events/tracks.ts";
import type { Span } from "../../lib/events/span.ts";
import { seeded } from "../../tests/harness/spans.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { head, spans } from "../../tests/judge/corpus.ts";
import { exported } from "../../tests/judge/memory_sink.ts";
import { bySequence, unpacked } from "../../tests/judge/unpacked.ts";
import { openByteSink } from "../file.ts";
import { openPerfetto } from "../perfetto.ts";

/** Rows enough that the numbers of some take two bytes, in turn; a text that is longer than a block, and behind it what is shorter than one. */
function* rows(): Iterable<Span> {
  yield* spans;
  const tracks = new Tracks(), random = seeded(1);
  const lanes = Array.from({ length: 150 }, (_, worker) => tracks.lane(7, `worker ${worker}`, worker));
  for (let i = 0; i < 170_003; i++) {
    const args = { layer: i % 31, text: i === 150_000 ? "long ".repeat(1 << 20) : `tensor ${i % 1009}` };
    yield {
      type: "slice",
      track: lanes[i % lanes.length]!,
      name: `op ${i % 7}`,
      category: "ggml.op",
      start: 1000 * i,
      end: 1000 * i + random(1000),
      args,
    };
  }
}

Deno.test("a file holds the packets of each sequence, compressed: every one, as it was and in order", async () => {
  using folder = temporary();
  const path = folder.file("t.pftrace");
  const exporter = openPerfetto(await openByteSink(path), head);
  for (const span of rows()) exporter.span(span);
  exporter.close([]);
  const plain = exported(openPerfetto, head, rows()).bytes(), file = Deno.readFileSync(path);
  assert.ok(file.length < plain.length / 4, `${file.length} of ${plain.length} bytes`);
  const [expected, found] = [bySequence(plain), bySequence(unpacked(file))];
  assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
  for (const [sequence, packets] of expected) assert.ok(Buffer.compare(packets, found.get(sequence)!) === 0, `sequence ${sequence}`);
});
