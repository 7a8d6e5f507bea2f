import { presentTotals, totals } from "../analysis/totals.ts";
import type { TotalsResult } from "../analysis/snapshots_schema.ts";
import { blockTotals } from "../../probes/block/totals.ts";
import { schedTotals } from "../../probes/sched/totals.ts";
import { deviceNames } from "./host_facts.ts";
import type { Profile } from "./profile.ts";
import { INTERVAL_MS } from "./totals_interval.ts";

const common = { engine: "totals", waits: false, analyse: totals, present: presentTotals } as const;

const block = [blockTotals(INTERVAL_MS)], processes = [schedTotals(INTERVAL_MS)];

/** `io --snapshots`: requests are added up, and nothing is told of each. */
export const ioTotalsProfile: Profile<TotalsResult> = {
  ...common,
  name: "io",
  probes: block,
  unpriced: { layers: ["io"], probes: block },
  host: deviceNames,
};

/** `sched --snapshots`. */
export const schedTotalsProfile: Profile<TotalsResult> = {
  ...common,
  name: "sched",
  probes: processes,
  unpriced: { layers: ["sched"], probes: processes },
};
