import type { LibraryNeed, Param, Probe } from "../programs/probe.ts";

/** Probes that share a library and are attached by one program: the stream of that name. */
export interface LibraryGroup {
  readonly stream: string;
  readonly probes: readonly Probe[];
  readonly need: LibraryNeed;
  /** Every function that a site of the probes may name. */
  readonly symbols: readonly string[];
}

/** By the folder of the probe: `ggml/ops` and `ggml/graph` are attached together, and count in one window. */
export function groupByLibrary(probes: readonly Probe[]): LibraryGroup[] {
  const groups = Map.groupBy(probes.filter((probe) => probe.library), (probe) => probe.name.slice(0, probe.name.indexOf("/")));
  return [...groups].map(([stream, members]) => ({
    stream,
    probes: members,
    need: { ...members[0]!.library!, symbols: [...new Set(members.flatMap((probe) => probe.library!.symbols))] },
    symbols: members.flatMap(siteSymbols),
  }));
}

function siteSymbols(probe: Probe): string[] {
  const sites = Object.values(probe.params ?? {}).filter((param): param is Extract<Param, { type: "site" }> => param.type === "site");
  return sites.flatMap((site) => site.functions.flat());
}
