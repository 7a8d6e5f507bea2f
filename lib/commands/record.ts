import type { Analysis } from "../analysis/analysis.ts";
import { ioWait } from "../analysis/io_present.ts";
import type { IoResult } from "../analysis/io_schema.ts";
import { isIdle } from "../analysis/sched_verdict.ts";
import type { Probe } from "../programs/probe.ts";
import type { Header } from "../timeline/header.ts";
import { coldstartProfile } from "./coldstart.ts";
import { gpuProfile } from "./gpu.ts";
import { ioProfile } from "./io.ts";
import { type Layer, layers } from "../programs/layers.ts";
import { operatorsProfile } from "./operators.ts";
import type { Profile } from "./profile.ts";
import type { RecordResult } from "./record_schema.ts";
import { schedProfile } from "./sched.ts";

const profiles: Readonly<Record<Layer, Profile<unknown>>> = {
  coldstart: coldstartProfile as Profile<unknown>,
  operators: operatorsProfile as Profile<unknown>,
  gpu: gpuProfile as Profile<unknown>,
  io: ioProfile as Profile<unknown>,
  sched: schedProfile as Profile<unknown>,
};

/** What several commands ask, in one run: each probe attached once, one timeline, and the answer of each. A recording says itself which they were. */
export function recordProfile(asked: readonly Layer[] = layers): Profile<RecordResult> {
  const all = asked.map((layer) => profiles[layer]);
  const probes = union(all.map(({ probes }) => probes));
  const priced = new Set(all.filter(({ unpriced }) => !unpriced).flatMap(({ probes }) => probes));
  const { requires } = operatorsProfile;
  return {
    name: "record",
    options: { layers: asked.join() },
    probes,
    unpriced: { layers: asked.filter((layer) => profiles[layer].unpriced), probes: probes.filter((probe) => !priced.has(probe)) },
    waits: false,
    ...(all.some(({ surroundings }) => surroundings) && { surroundings: true }),
    ...(all.some(({ gpus }) => gpus) && { gpus: true }),
    ...(asked.includes("operators") && requires && { requires }),
    async host(files) {
      return Object.assign({}, ...await Promise.all(all.map((profile) => profile.host?.(files))));
    },
    told(header) {
      const each = all.flatMap((profile) => profile.told?.(header) ?? []);
      return (span) => each.reduce((told, tell) => tell(told), span);
    },
    analyse(header) {
      const analyses = layersOf(header, asked).map((layer) => [layer, profiles[layer].analyse(header)] as const);
      return {
        span(span) {
          for (const [, analysis] of analyses) analysis.span(span);
        },
        result() {
          // Threads wait for what io tells by file: the longest of these waits are told once, by sched.
          const io = analyses.find(([layer]) => layer === "io")?.[1].result() as IoResult | undefined;
          return Object.fromEntries(analyses.map(([layer, analysis]) => [layer, layer === "io" ? io : analysis.result({ io })])) as RecordResult;
        },
      } satisfies Analysis<RecordResult>;
    },
    present(result) {
      const views = layers.flatMap((layer) => result[layer] === undefined ? [] : profiles[layer].present(result[layer]));
      // What holds for all of them, such as a loss, is said once; what threads wait for is said by sched, with what io knows of it.
      const said = new Set<string>(tellsWaits(result.sched) ? result.io?.verdict.map((wait) => ioWait(wait).text) : []);
      return views.filter((view) => view.type !== "note" || (!said.has(view.text) && said.add(view.text)));
    },
    annotate: ({ coldstart }, tracks) => coldstart ? coldstartProfile.annotate!(coldstart, tracks) : [],
  };
}

/** What a recording's run had attached. */
export function attachedIn(header: Header): readonly Probe[] {
  return recordProfile(layersOf(header, layers)).probes;
}

function tellsWaits(sched: RecordResult["sched"]): boolean {
  return sched !== undefined && sched.verdict.length > 0 && !isIdle(sched.threads, sched.windows.ns);
}

/** Those that a recording has. */
function layersOf({ options }: Header, asked: readonly Layer[]): readonly Layer[] {
  const said = typeof options.layers === "string" ? options.layers.split(",") : null;
  return said === null ? asked : layers.filter((layer) => said.includes(layer));
}

function union(lists: readonly (readonly Probe[])[]): Probe[] {
  return [...new Map(lists.flat().map((probe) => [probe.name, probe])).values()];
}
