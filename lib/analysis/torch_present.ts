import { quantity } from "../events/quantity.ts";
import type { Facts, Note, Table, View } from "../events/view.ts";
import { tableOf } from "./figures_table.ts";
import { info, qualityNotes, turnsNotes, warning } from "./quality.ts";
import { presentSystemCalls } from "./system_calls_present.ts";
import type { TorchResult } from "./torch_schema.ts";

/** Operators, who asked for whom, and passes beyond these take little time; threads beyond these compute little. */
const MAX_ROWS = 25, MAX_THREADS = 8, MAX_PASSES = 8;
/** Dispatched with their arguments in a list, and not by a function of their own. */
const UNSEEN = "TorchScript's operators, torch.ops, quantised ones";

/** Where the time of a PyTorch process went: by operator, by who asked for it, by thread. */
export function presentTorch(result: TorchResult): readonly View[] {
  const views: View[] = [...notes(result)];
  if (result.operators.length > 0) views.push(time(result), operators(result), ...shapes(result), nesting(result), ...passes(result));
  if (result.threads.length > 1) views.push(threads(result));
  if (result.systemCalls) views.push(...presentSystemCalls(result.systemCalls));
  return views;
}

function notes({ windows, learnedNs, operators, processes, quality }: TorchResult): Note[] {
  const notes = qualityNotes(quality);
  const learned = learnedNs === null ? null : quantity(learnedNs, "ns");
  if (windows.count === 0 && learned !== null) {
    return [...notes, warning(`The run ended after ${learned} of learning which operators run: none was timed. Did the process compute?`)];
  }
  notes.push(...turnsNotes(windows));
  if (operators.length === 0) {
    notes.push(
      warning(`No operator ${learned === null ? "" : "of those that were learned "}ran while the process was watched; not seen are ${UNSEEN}.`),
    );
  }
  if (learned !== null) {
    notes.push(info(`Operators that did not run in the ${learned} of learning are not seen: --learn 10s waits for longer until no new one comes.`));
  }
  if (processes > 1) notes.push(info(`${processes} processes computed: the figures are their sums.`));
  return notes;
}

function time({ windows, time, threads }: TorchResult): Facts {
  const [main] = threads;
  return {
    type: "facts",
    title: "Time",
    facts: [
      { name: "watched", value: windows.ns, unit: "ns" },
      { name: "in operators", value: time.operatorsNs, unit: "ns", note: threads.length === 1 ? "one thread" : `${threads.length} threads together` },
      ...(main && main.calls > 1
        ? [
          {
            name: "between them",
            value: main.betweenNs,
            unit: "ns",
            note: `thread ${main.tid}: Python, compiled graphs, ${UNSEEN} and those that are not PyTorch's, or waiting`,
          } as const,
          { name: "  longest", value: main.longestGapNs, unit: "ns" } as const,
        ]
        : []),
    ],
  };
}

function operators({ operators, time }: TorchResult): Table {
  return tableOf("Operators", operators, [
    [{ title: "operator", unit: "text" }, (row) => row.name],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "own time", unit: "ns" }, (row) => row.selfNs],
    [{ title: "own", unit: "ratio" }, (row) => time.operatorsNs > 0 ? row.selfNs / time.operatorsNs : null],
    [{ title: "with inner", unit: "ns" }, (row) => row.totalNs],
    [{ title: "mean", unit: "ns" }, (row) => row.meanNs],
    [{ title: "p50", unit: "ns" }, (row) => row.p50Ns],
    [{ title: "p99", unit: "ns" }, (row) => row.p99Ns],
  ], MAX_ROWS);
}

function shapes({ shapes, time }: TorchResult): Table[] {
  if (!shapes) return [];
  return [tableOf("Operators, by the shapes of the tensors that they are given", shapes, [
    [{ title: "operator", unit: "text" }, (row) => row.name],
    [{ title: "tensors", unit: "text" }, (row) => row.shapes],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "own time", unit: "ns" }, (row) => row.selfNs],
    [{ title: "own", unit: "ratio" }, (row) => time.operatorsNs > 0 ? row.selfNs / time.operatorsNs : null],
    [{ title: "mean", unit: "ns" }, (row) => row.totalNs / row.calls],
  ], MAX_ROWS)];
}

function nesting({ nesting }: TorchResult): Table {
  return tableOf("Who asks for whom", nesting, [
    [{ title: "asked by", unit: "text" }, (row) => row.outer ?? "the program"],
    [{ title: "operator", unit: "text" }, (row) => row.inner],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "total", unit: "ns" }, (row) => row.totalNs],
  ], MAX_ROWS);
}

/** Passes that came again; of a program that is one pass, or never the same, there is nothing to say. */
function passes({ passes: { kinds, others } }: TorchResult): Table[] {
  if (kinds.length === 0) return [];
  const table = tableOf("Passes: the same operators in the same order, with a pause before", kinds, [
    [{ title: "from … to", unit: "text" }, (row) => `${row.first} … ${row.last}`],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "times", unit: "count" }, (row) => row.times],
    [{ title: "total", unit: "ns" }, (row) => row.totalNs],
    [{ title: "p50", unit: "ns" }, (row) => row.p50Ns],
    [{ title: "p99", unit: "ns" }, (row) => row.p99Ns],
    [{ title: "pause p50", unit: "ns" }, (row) => row.beforeP50Ns],
  ], MAX_PASSES);
  if (others.times === 0) return [table];
  return [{ ...table, rows: [...table.rows, ["others", null, others.times, others.totalNs, null, null, null]] }];
}

function threads({ threads }: TorchResult): Table {
  return tableOf("Threads", threads, [
    [{ title: "thread", unit: "text" }, ({ pid, tid }) => tid === pid ? `${tid} main` : String(tid)],
    [{ title: "operators", unit: "count" }, (row) => row.calls],
    [{ title: "in operators", unit: "ns" }, (row) => row.operatorsNs],
    [{ title: "between", unit: "ns" }, (row) => row.betweenNs],
    [{ title: "longest", unit: "ns" }, (row) => row.longestGapNs],
  ], MAX_THREADS);
}
