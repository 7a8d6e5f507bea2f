import { counted } from "../events/text.ts";
import type { Facts, Note } from "../events/view.ts";
import { mebibytes, processorTime } from "./figures.ts";
import { info, warning } from "./quality.ts";
import type { PressureResult, SurroundingsResult } from "./surroundings_schema.ts";
import { memoryAllowed } from "./verdict.ts";

/** Less of the time is not worth a line. */
const MATTERS = 0.01;

export function limitNotes({ limits, memory }: Pick<SurroundingsResult, "limits" | "memory">): Note[] {
  if (!limits || limits.killed === 0) return [];
  const { killed, memoryLimit } = limits;
  // What the target had and the machine could give.
  const reach = memory ? memory.residentBytes + memory.leastAvailableBytes : Infinity;
  const why = memoryLimit === null
    ? "the machine, or a control group that is watched, had no memory left. Need less, or end other processes."
    : memoryLimit > reach
    ? "the whole machine had no memory left. Need less, or end other processes."
    : `its control group allows ${mebibytes(memoryLimit)} of memory. Raise that, or need less.`;
  return [warning(`The kernel killed ${killed === 1 ? "a process" : `${killed} processes`}: ${why}`)];
}

/** What a hypervisor takes looks like time on a processor. */
export function stolenNotes({ stolen }: SurroundingsResult): Note[] {
  const share = stolen && stolen.busyNs > 0 ? stolen.ns / stolen.busyNs : 0;
  if (share < MATTERS) return [];
  const text = `For ${
    (share * 100).toFixed(1)
  } % of the time in which this machine's processors had something to do, its hypervisor ran others on them (steal)`;
  return [info(`${text}: time on a processor contains it. Dedicated or pinned processors would give it back.`)];
}

/** Empty where nothing was read. */
export function presentSurroundings({ limits, pressure, groupPressure, memory }: SurroundingsResult): Facts[] {
  if (memory === null) return [];
  const of = memory.processes.length > 1 ? `of ${memory.processes.length} processes, what they share counted in each, ` : "";
  const facts: Facts["facts"][number][] = [
    // Who was gone before anybody looked is not known to have had none.
    ...memory.processes.length === 0 ? [] : [
      { name: "resident at most", value: memory.residentBytes, unit: "bytes", note: `${of}looked at once a second` } as const,
      { name: "locked at most", value: memory.lockedBytes, unit: "bytes" } as const,
    ],
    { name: "available at least", value: memory.leastAvailableBytes, unit: "bytes", note: "of the machine's" },
  ];
  if (memory.swappedBytes > 0) facts.push({ name: "swapped out", value: memory.swappedBytes, unit: "bytes", note: "of the target's" });
  const { swappedInPages, swappedOutPages } = memory;
  if (swappedInPages + swappedOutPages > 0) {
    facts.push({ name: "pages from swap", value: swappedInPages, unit: "count", note: `and ${swappedOutPages} to it, of the whole machine` });
  }
  const allowed = memoryAllowed(limits);
  if (allowed && limits!.memoryBytes !== null) {
    const note = `of the ${mebibytes(allowed.bytes)} that its control group allows, at the last look`;
    facts.push({ name: "group uses", value: limits!.memoryBytes, unit: "bytes", note });
  }
  if (limits?.heldBack && limits.memoryHigh !== undefined) {
    const note = `${limits.heldBack === 1 ? "time" : "times"}, by the kernel: it had more than the ${mebibytes(limits.memoryHigh)} of memory.high`;
    facts.push({ name: "group held back", value: limits.heldBack, unit: "count", note });
  }
  if (limits && limits.throttled > 0) {
    facts.push({
      name: "group stood still",
      value: limits.throttledNs,
      unit: "ns",
      note: `of processors' time, ${counted(limits.throttled, "time")}: it is allowed ${processorTime(limits.cpus)}`,
    });
  }
  facts.push(
    ...pressureFacts("somebody waited for", "on the machine", pressure),
    ...pressureFacts("its group waited for", "", groupPressure),
  );
  return [{ type: "facts", title: "Memory and pressure", facts }];
}

const RESOURCES = { cpu: "a processor", io: "disks", memory: "memory" } as const;

function pressureFacts(who: string, where: string, pressure: PressureResult | null): Facts["facts"][number][] {
  if (!pressure || pressure.overNs === 0) return [];
  const ns = pressure.overNs;
  return (Object.keys(RESOURCES) as (keyof typeof RESOURCES)[]).flatMap((resource) => {
    const share = Math.min(1, (pressure[resource].someNs ?? 0) / ns), full = Math.min(1, (pressure[resource].fullNs ?? 0) / ns);
    const note = [where, full >= MATTERS ? `everybody for ${(full * 100).toFixed(1)} %` : ""].filter((text) => text !== "").join(", ");
    return share < MATTERS ? [] : [{ name: `${who} ${RESOURCES[resource]}`, value: share, unit: "ratio", note } as const];
  });
}
