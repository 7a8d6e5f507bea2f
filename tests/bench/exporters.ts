/**
 * How many spans a second each format takes, and how many bytes a span costs: operators of a graph on worker lanes, the hottest thing there is.
 *
 *     deno run -A tests/bench/exporters.ts [spans]
 */
import { formats } from "../../exporters/formats.ts";
import type { Slice } from "../../lib/events/span.ts";
import { Tracks } from "../../lib/events/tracks.ts";
import { head } from "../judge/corpus.ts";

const count = Number(Deno.args[0] ?? 1_000_000);
const tracks = new Tracks();
const lanes = Array.from({ length: 8 }, (_, worker) => tracks.lane(4711, `worker ${worker}`, worker));
const ops = ["MUL_MAT", "ADD", "RMS_NORM", "MUL", "ROPE", "SOFT_MAX", "CPY"];
// Made beforehand: the bench measures exporters, not this.
const spans: Slice[] = Array.from({ length: Math.min(count, 200_000) }, (_, i) => {
  const worker = i % lanes.length;
  const args = { tensor: `blk.${(i >> 3) % 32}.node_${(i >> 3) % 997}`, shape: "4096x1", layer: (i >> 3) % 32, worker };
  const start = (i >> 3) * 1500;
  return { type: "slice", track: lanes[worker]!, name: ops[(i >> 3) % ops.length]!, category: "ggml.op", start, end: start + 1500, args };
});

for (const format of formats) {
  const open = await format.load();
  let bytes = 0;
  const exporter = open({ write: (block) => void (bytes += block.length), tail() {}, close() {} }, head);
  const begin = performance.now();
  for (let i = 0; i < count; i++) exporter.span(spans[i % spans.length]!);
  exporter.close([]);
  const seconds = (performance.now() - begin) / 1000;
  const rate = (count / seconds / 1e6).toFixed(2);
  console.log(
    `${format.extension.padEnd(10)} ${rate} M spans/s  ${(bytes / count).toFixed(1)} bytes/span  ${(bytes / seconds / 1e6).toFixed(0)} MB/s`,
  );
}
