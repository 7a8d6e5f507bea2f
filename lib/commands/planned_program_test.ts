import assert from "node:assert/strict";
import { capable } from "../../tests/harness/fake_machine.ts";
import { calls } from "../../probes/llama/calls.ts";
import { parseBpftrace } from "../machine/bpftrace.ts";
import { uncalibrated } from "../machine/calibration.ts";
import type { SiteParam } from "../programs/probe.ts";
import { siteKey } from "../session/program_part.ts";
import { plan } from "./planned_program.ts";

/** What of a dry run with this version would be priced, and what is said of it. */
function planned(version: string, calibration = uncalibrated) {
  const cost = "emulated and back", attach = 'uretprobe:"/x/libllama.so":"llama_decode"';
  const site = { attach, label: "return of llama_decode", cost, functions: [], byHand: [attach], places: [] };
  const sites = Object.values(calls.params!).filter((param): param is SiteParam => param.type === "site").map((param) =>
    [siteKey(param), [site]] as const
  );
  const filter = { type: "processes", pids: [7] } as const;
  const info = "bfd: yes\n";
  const machine = { ...capable(info), bpftrace: parseBpftrace("/usr/bin/bpftrace", `bpftrace v${version}\n`, info, "whole") };
  const { uprobes, heading } = plan({ stream: "llama", probes: [calls], filter, sites: new Map(sites), bufferPages: 64 }, machine, calibration);
  return { cost: uprobes[0]!.cost, told: heading.find((line) => line.includes("return of llama_decode")) };
}

Deno.test("dry run: a record that is printed is priced as a run prices it", () => {
  const told = "  return of llama_decode  (llama/calls; emulated and back";
  assert.deepEqual(planned("0.23.2"), { cost: "emulated and back", told: `${told}: about 2.70 µs a hit)` });
  const printed = `${told} and printed: about 16.7 µs a hit)`;
  assert.deepEqual(planned("0.17.0"), { cost: "emulated and back and printed", told: printed });
  const here = { nop: 100, emulated: 200, stepped: 900, back: 50, printed: 0, measured: true };
  assert.equal(planned("0.23.2", here).told, `${told}: 0.25 µs a hit)`, "as it was measured here");
});
