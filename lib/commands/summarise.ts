import { SCHEMA_VERSION, type Summary } from "../analysis/summary.ts";
import type { Fact } from "../events/fact.ts";
import type { ProcessEnd } from "../events/span.ts";
import { boottime, type Ns } from "../events/time.ts";
import type { Header } from "../timeline/header.ts";
import { countsOf } from "../timeline/tally.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { OutputFile } from "./output.ts";

type Of<Name extends Fact["fact"]> = Extract<Fact, { fact: Name }>;

function all<Name extends Fact["fact"]>(facts: readonly Fact[], name: Name): Of<Name>[] {
  return facts.filter((fact): fact is Of<Name> => fact.fact === name);
}

/** Puts the envelope around a result. A replay gives the same, but for the outputs: everything comes from the recording. */
export function summarise<Result>(
  header: Header,
  timeline: Timeline,
  facts: readonly Fact[],
  ended: ProcessEnd | undefined,
  files: readonly OutputFile[],
  notes: readonly string[],
  result: Result,
): Summary<Result> {
  const { clock, target } = header;
  const exit = all(facts, "exit").at(-1);
  const cpu = all(facts, "cpu").at(-1);
  const overhead = all(facts, "overhead").at(-1);
  const engine = all(facts, "engine").at(-1);
  const moment = (at: Ns) => Number.isFinite(at) ? Number(boottime(clock, at)) : null;
  const tallies = [...timeline.tallies.values()];
  // Of the stream's own: several copies of a library, or lives of a target, have the same records.
  const hits = (stream: string, record: string) => timeline.tallies.get(stream)?.hits.get(record) ?? 0;
  const host = (name: string) => header.host[name] ?? null;
  return {
    schemaVersion: SCHEMA_VERSION,
    command: header.command,
    target: { pid: target.pid, argv: [...target.argv], exitCode: exit ? exit.code : ended ? exitCodeOf(ended) : null },
    clock: { name: clock.name, baseNs: String(clock.base), realtimeOffsetNs: String(clock.realtimeOffset) },
    startNs: moment(timeline.start),
    endNs: moment(timeline.end),
    host: {
      kernel: host("kernel") as string | null,
      cpu: host("cpu") as string | null,
      cpus: host("cpus") as number | null,
      governor: host("governor") as string | null,
      memoryBytes: host("memoryBytes") as number | null,
      engine: engine?.engine ?? null,
      engineVersion: engine?.version ?? null,
      model: engine?.model ?? null,
      quantisation: engine?.quantisation ?? null,
      threads: engine?.threads ?? null,
      affinity: engine?.affinity ?? null,
    },
    bpftrace: header.bpftrace,
    probes: probesOf(all(facts, "program"), hits),
    events: { ...countsOf(tallies), skipped: tallies.reduce((n, { skipped }) => n + skipped, 0) },
    overhead: {
      predicted: overhead?.predicted ?? null,
      measured: overhead?.measured ?? null,
      calibrated: overhead?.calibrated ?? false,
      ...(overhead?.unpriced && { unpriced: [...overhead.unpriced] }),
      ...(overhead?.details && { details: { ...overhead.details } }),
      bpftraceCpuSeconds: cpu?.bpftrace ?? null,
      llmprofCpuSeconds: cpu?.llmprof ?? null,
    },
    outputs: files.map(({ path, shown, format }) => ({ path: shown, format, bytes: sizeOf(path) })),
    notes: [...notes],
    result,
  };
}

/** As a shell has it, and what llmprof is told of a program that it has started. */
function exitCodeOf({ code, signal }: ProcessEnd): number {
  return signal === 0 ? code : 128 + signal;
}

/** Null for what is not there any more. */
function sizeOf(path: string): number | null {
  try {
    const stat = Deno.lstatSync(path);
    return stat.isDirectory ? [...Deno.readDirSync(path)].reduce((n, { name }) => n + Deno.lstatSync(`${path}/${name}`).size, 0) : stat.size;
  } catch {
    return null;
  }
}

/** The sites of all programs. Lives and turns of a target (`ggml`, `ggml-2` …) have the same ones again: those are one, with the hits of all. */
function probesOf(programs: readonly Of<"program">[], hits: (stream: string, record: string) => number): Summary<unknown>["probes"] {
  const found = new Map<string, { name: string; site: string; cost: string; hits: number | null }>();
  for (const { stream, sites } of programs) {
    for (const [i, { probe, site, cost, records, among }] of sites.entries()) {
      const key = JSON.stringify([stream.replace(/-\d+$/, ""), i, probe, site, cost]);
      const here = records.length === 0 || among !== undefined ? null : Math.max(...records.map((record) => hits(stream, record)));
      const before = found.get(key);
      if (!before) found.set(key, { name: probe, site, cost, hits: here });
      else if (here !== null) before.hits = (before.hits ?? 0) + here;
    }
  }
  return [...found.values()];
}
