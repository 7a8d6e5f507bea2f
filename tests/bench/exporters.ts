/**
 * How many spans a second each format takes, and how many bytes a span costs: operators of a graph on worker lanes, the hottest thing there is, with what
 * they say of themselves and without: all bytes, those that are written (a `.pftrace` is compressed), and those of a `.gz`.
 *
 * A graph of 224 fits into what a `.gz` looks back at; of a larger one an operator is compressed by that of the layer before, which is not quite the same.
 * Rates are those of what is written.
 *
 *     deno run -A tests/bench/exporters.ts [spans] [operators a graph]
 */
import { formats } from "../../exporters/formats.ts";
import { GzipSink } from "../../exporters/gzip.ts";
import type { ByteSink } from "../../lib/events/exporter.ts";
import type { Chain, Link } from "../../lib/events/span.ts";
import { Tracks } from "../../lib/events/tracks.ts";
import { seeded } from "../harness/spans.ts";
import { head } from "../judge/corpus.ts";

const count = Number(Deno.args[0] ?? 1_000_000);
const tracks = new Tracks();
const lanes = Array.from({ length: 2 }, (_, worker) => tracks.lane(4711, `worker ${worker}`, worker));
const ops = ["MUL_MAT", "ADD", "RMS_NORM", "MUL", "ROPE", "SOFT_MAX", "CPY"];
const perGraph = Number(Deno.args[1] ?? 224), perChain = 56;

/** As an engine computes them, graph after graph: made beforehand, because the bench measures exporters, not this. */
function graphs(withArgs: boolean): readonly Chain[] {
  const random = seeded(1);
  const nodes = lanes.map((_, worker) =>
    Array.from({ length: perGraph }, (_, i): Link => {
      const layer = Math.floor(i / 14), name = ops[i % ops.length]!;
      return { name, args: withArgs ? { tensor: `node-${i}`, shape: "4096×1", layer, worker } : {} };
    })
  );
  const chains: Chain[] = [];
  for (let made = 0, at = 0; made < Math.min(count, 200_000);) {
    for (let from = 0; from < perGraph; from += perChain) {
      const begin = at;
      for (const [worker, track] of lanes.entries()) {
        const links = nodes[worker]!.slice(from, from + perChain), times = [begin];
        for (let i = 0; i < links.length; i++) times.push(times[i]! + 4000 * (1 + i % ops.length) + random(1000));
        chains.push({ type: "chain", track, category: "ggml.op", tid: 4711 + worker, links, times });
        made += links.length;
        at = Math.max(at, times.at(-1)!);
      }
    }
  }
  return chains;
}

interface Written {
  readonly spans: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** Writes so many of them: more by the same graphs later on, as often as it takes. */
async function written({ load }: typeof formats[number], chains: readonly Chain[], through: (counting: ByteSink) => ByteSink): Promise<Written> {
  const open = await load();
  let bytes = 0, spans = 0;
  const length = chains.at(-1)!.times.at(-1)!;
  const write = (block: Uint8Array) => void (bytes += block.length);
  const exporter = open(through({ write, replace: (count, block) => void (bytes += block.length - count), close() {} }), head);
  const begin = performance.now();
  for (let round = 0; spans < count; round++) {
    for (const chain of chains) {
      exporter.span(round === 0 ? chain : { ...chain, times: chain.times.map((at) => at + round * length) });
      spans += chain.links.length;
    }
  }
  exporter.close([]);
  return { spans, bytes, seconds: (performance.now() - begin) / 1000 };
}

const [told, bare] = [graphs(true), graphs(false)];
const asWritten = (sink: ByteSink) => sink, inGzip = (sink: ByteSink) => new GzipSink(sink);
const plain = ({ write, close }: ByteSink): ByteSink => ({ write, close });
const perSpan = ({ bytes, spans }: Written) => (bytes / spans).toFixed(1).padStart(6);
console.log("format       M spans/s  MB/s  bytes a span: all, written, in a .gz; without arguments: all, written, in a .gz");
for (const format of formats) {
  const runs: Written[] = [];
  for (const chains of [told, bare]) for (const through of [plain, asWritten, inGzip]) runs.push(await written(format, chains, through));
  const [all, { spans, seconds }] = runs as [Written, Written];
  const rates = [(spans / seconds / 1e6).toFixed(2).padStart(9), (all.bytes / seconds / 1e6).toFixed(0).padStart(4)];
  console.log(format.extension.padEnd(12), ...rates, "", ...runs.map(perSpan));
}
