import { Intervals } from "../../lib/analysis/intervals.ts";
import type { ColdstartResult } from "../../lib/analysis/coldstart_schema.ts";
import type { OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import { demoProfile } from "../../lib/commands/demo_profile.ts";
import { probeCatalogue } from "../../lib/commands/probe_catalogue.ts";
import { singly } from "../../lib/events/chain.ts";
import type { Instant, Slice } from "../../lib/events/span.ts";
import { splitBase } from "../../lib/events/time.ts";
import { unpack } from "../../lib/timeline/packed_recording.ts";
import { replay } from "../../lib/timeline/replay.ts";
import { RecordingFolder } from "../../lib/timeline/recording_source.ts";

/** What a recording shows, as the picture needs it. */
export interface SeenRun {
  readonly argv: readonly string[];
  readonly slices: readonly Slice[];
  readonly instants: readonly Instant[];
  readonly start: ColdstartResult;
  readonly operators: OperatorsResult;
  /** Nanoseconds after the exec without the time at which llmprof held the target: the axis of everything that is drawn. */
  net(at: number): number;
}

/** Replays a recording, a folder or a packed one, on the path that every recording takes. */
export async function readRun(path: string): Promise<SeenRun> {
  const source = Deno.statSync(path).isDirectory ? new RecordingFolder(path) : await unpack(path, Deno.readTextFileSync(path));
  const slices: Slice[] = [];
  const instants: Instant[] = [];
  const analysis: { of?: ReturnType<typeof demoProfile.analyse> } = {};
  const { header } = replay(source, probeCatalogue(demoProfile.probes), (header) => {
    const both = analysis.of = demoProfile.analyse(header);
    return {
      base: splitBase(header.clock.base),
      out: (told) => {
        both.span(told);
        for (const span of singly(told)) {
          if (span.type === "slice") slices.push(span);
          if (span.type === "instant") instants.push(span);
        }
      },
      ...(header.root !== undefined && { root: header.root }),
    };
  });
  const { coldstart, operators } = analysis.of!.result();
  if (!coldstart.root) throw new Error(`${path}: no process was seen to start; the picture wants a run from its beginning.`);
  const { execNs } = coldstart.root;
  const stops = new Intervals();
  for (const { category, start, end } of slices) if (category === "llmprof.stopped") stops.add(start, end);
  const net = (at: number) => at - execNs - stops.overlap(execNs, at);
  return { argv: header.target.argv, slices, instants, start: coldstart, operators, net };
}
