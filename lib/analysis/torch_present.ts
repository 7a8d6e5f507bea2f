import type { Facts, Note, Table, View } from "../events/view.ts";
import { firstRows } from "./first_rows.ts";
import { info, qualityNotes, turnsNotes, warning } from "./quality.ts";
import { presentSystemCalls } from "./system_calls_present.ts";
import type { TorchResult } from "./torch_schema.ts";

/** Operators, who asked for whom, and passes beyond these take little time; threads beyond these compute little. */
const MAX_ROWS = 25, MAX_THREADS = 8, MAX_PASSES = 8;

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
  const learned = learnedNs === null ? null : `${(learnedNs / 1e9).toFixed(1)} s`;
  if (windows.count === 0 && learned !== null) {
    return [...notes, warning(`The run ended after ${learned} of learning which operators run: none was timed. Did the process compute?`)];
  }
  notes.push(...turnsNotes(windows));
  if (operators.length === 0) {
    notes.push(warning(`No operator ${learned === null ? "" : "of those that were learned "}ran while the process was watched.`));
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
            note: `thread ${main.tid}: Python, compiled graphs, operators that are not PyTorch's, or waiting`,
          } as const,
          { name: "  longest", value: main.longestGapNs, unit: "ns" } as const,
        ]
        : []),
    ],
  };
}

function operators({ operators, time }: TorchResult): Table {
  const { title, shown } = firstRows("Operators", operators, MAX_ROWS);
  return {
    type: "table",
    title,
    columns: [
      { title: "operator", unit: "text" },
      { title: "calls", unit: "count" },
      { title: "own time", unit: "ns" },
      { title: "own", unit: "ratio" },
      { title: "with inner", unit: "ns" },
      { title: "mean", unit: "ns" },
      { title: "p50", unit: "ns" },
      { title: "p99", unit: "ns" },
    ],
    rows: shown.map((row) => [
      row.name,
      row.calls,
      row.selfNs,
      time.operatorsNs > 0 ? row.selfNs / time.operatorsNs : null,
      row.totalNs,
      row.meanNs,
      row.p50Ns,
      row.p99Ns,
    ]),
  };
}

function shapes({ shapes, time }: TorchResult): Table[] {
  if (!shapes) return [];
  const { title, shown } = firstRows("Operators, by the shapes of the tensors that they are given", shapes, MAX_ROWS);
  return [{
    type: "table",
    title,
    columns: [
      { title: "operator", unit: "text" },
      { title: "tensors", unit: "text" },
      { title: "calls", unit: "count" },
      { title: "own time", unit: "ns" },
      { title: "own", unit: "ratio" },
      { title: "mean", unit: "ns" },
    ],
    rows: shown.map((row) => [
      row.name,
      row.shapes,
      row.calls,
      row.selfNs,
      time.operatorsNs > 0 ? row.selfNs / time.operatorsNs : null,
      row.totalNs / row.calls,
    ]),
  }];
}

function nesting({ nesting }: TorchResult): Table {
  const { title, shown } = firstRows("Who asks for whom", nesting, MAX_ROWS);
  return {
    type: "table",
    title,
    columns: [{ title: "asked by", unit: "text" }, { title: "operator", unit: "text" }, { title: "calls", unit: "count" }, {
      title: "total",
      unit: "ns",
    }],
    rows: shown.map(({ outer, inner, calls, totalNs }) => [outer ?? "the program", inner, calls, totalNs]),
  };
}

/** Passes that came again; of a program that is one pass, or never the same, there is nothing to say. */
function passes({ passes: { kinds, others } }: TorchResult): Table[] {
  if (kinds.length === 0) return [];
  const { title, shown } = firstRows("Passes: the same operators in the same order, with a pause before", kinds, MAX_PASSES);
  const rows = shown.map((row) => [`${row.first} … ${row.last}`, row.calls, row.times, row.totalNs, row.p50Ns, row.p99Ns, row.beforeP50Ns]);
  if (others.times > 0) rows.push(["others", null, others.times, others.totalNs, null, null, null]);
  const columns = [
    { title: "from … to", unit: "text" },
    { title: "calls", unit: "count" },
    { title: "times", unit: "count" },
    { title: "total", unit: "ns" },
    { title: "p50", unit: "ns" },
    { title: "p99", unit: "ns" },
    { title: "pause p50", unit: "ns" },
  ] as const;
  return [{ type: "table", title, columns, rows }];
}

function threads({ threads }: TorchResult): Table {
  const { title, shown } = firstRows("Threads", threads, MAX_THREADS);
  return {
    type: "table",
    title,
    columns: [
      { title: "thread", unit: "text" },
      { title: "operators", unit: "count" },
      { title: "in operators", unit: "ns" },
      { title: "between", unit: "ns" },
      { title: "longest", unit: "ns" },
    ],
    rows: shown.map(({ pid, tid, calls, operatorsNs, betweenNs, longestGapNs }) => [
      tid === pid ? `${tid} main` : String(tid),
      calls,
      operatorsNs,
      betweenNs,
      longestGapNs,
    ]),
  };
}
