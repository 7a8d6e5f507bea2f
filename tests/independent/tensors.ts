import { toldOnly } from "./told_only.ts";
import { quoted, trace } from "./trace.ts";

/** Which function is called with each tensor that is computed, and where in it ten sources (behind them what it is a view of) and its name stand. */
export interface AsComputed {
  readonly called: string;
  readonly sources: number;
  readonly name: number;
}

/** Whose tensors are told, as they are computed. */
interface Told<T> {
  readonly bpftrace: string;
  readonly library: string;
  /** Path of the program, of a name that nobody else's has, whose processes alone are told; all that map the library when absent. */
  readonly program?: string;
  readonly whileRunning: () => Promise<T>;
  readonly as?: AsComputed;
}

const today: AsComputed = { called: "ggml_cpu_extra_compute_forward", sources: 152, name: 256 };

/** What `struct ggml_tensor` held when a thread began to compute it: ne 16. */
export interface ComputedTensor {
  readonly pid: number;
  /** The first 31 bytes. */
  readonly name: string;
  /** Elements by dimension. */
  readonly ne: readonly number[];
}

/** Every tensor whose computation begins on a thread that is worker 0, in order, each read anew. */
export async function computedTensors<T>(options: Told<T>): Promise<{ tensors: ComputedTensor[]; value: T }> {
  const { called, name } = options.as ?? today;
  const ne = [16, 24, 32, 40].map((offset) => `*(uint64 *)(arg1 + ${offset})`).join(", ");
  const { probe, isTold } = toldOnly(options.program);
  const program = `${probe}uprobe:${quoted(options.library)}:${called} / *(int32 *)arg0 == 0 && ${isTold} / {
  printf("tensor %llu %d %d %d %d %d %s\\n", nsecs, pid, ${ne}, str(arg1 + ${name}, 32));
}`;
  const { stdout, value } = await trace(options.bpftrace, program, options.whileRunning);
  // 0.17 reads the buffers of the CPUs one after another.
  const found = [...stdout.matchAll(/^tensor (\d+) (\d+) (\d+ \d+ \d+ \d+) (.*)$/gm)].map(([, at, pid, ne, name]) => ({
    at: BigInt(at!),
    tensor: { pid: Number(pid), ne: ne!.split(" ").map(Number), name: name! },
  }));
  return { tensors: found.sort((a, b) => Number(a.at - b.at)).map(({ tensor }) => tensor), value };
}

/** A source of a tensor that is computed; of each name the first 31 bytes. */
export interface ComputedEdge {
  readonly tensor: string;
  /** Which of its sources. */
  readonly place: number;
  readonly source: string;
  /** Whose computation in this graph gave the source; undefined for weights, inputs, the cache. */
  readonly from: string | undefined;
}

/**
 * Every source of every tensor whose computation begins on a thread that is worker 0, graph by graph: what stands in `src` at that moment. A source with
 * which nobody began is a view, or was computed in one go with what it is computed from first.
 */
export async function computedEdges<T>(options: Told<T>): Promise<{ of(pid: number): ComputedEdge[][]; value: T }> {
  const { called, sources, name } = options.as ?? today;
  const view = sources + 80;
  const places = Array.from({ length: 10 }, (_, place) => `
  $s = *(uint64 *)(arg1 + ${sources + 8 * place});
  if ($s != 0) {
    $root = *(uint64 *)($s + ${view});
    if ($root == 0) { $root = $s; }
    $first = *(uint64 *)($root + ${sources});
    $further = (uint64)0;
    if ($first != 0) { $further = *(uint64 *)($first + ${sources}); }
    printf("source %llu %d ${place} %llu %llu %llu %llu|%s\\n", nsecs, pid, $s, $root, $first, $further, str($s + ${name}, 32));
  }`);
  const { probe, isTold } = toldOnly(options.program);
  const program = `${probe}uprobe:${quoted(options.library)}:ggml_graph_compute / ${isTold} / { printf("graph %llu %d\\n", nsecs, pid); }
uprobe:${quoted(options.library)}:${called} / *(int32 *)arg0 == 0 && ${isTold} / {
  printf("tensor %llu %d %llu|%s\\n", nsecs, pid, arg1, str(arg1 + ${name}, 32));${places.join("")}
}`;
  const { stdout, value } = await trace(options.bpftrace, program, options.whileRunning);
  const lines = [...stdout.matchAll(/^(graph|tensor|source) ([\d ]+)(?:\|(.*))?$/gm)].map(([, kind, numbers, name]) => {
    const [at, pid, ...values] = numbers!.split(" ").map(Number);
    return { kind: kind!, at: at!, pid: pid!, values, name: name! };
  });
  // 0.17 reads the buffers of the CPUs one after another.
  lines.sort((a, b) => a.at - b.at);
  return { of: (pid) => edgesByGraph(lines.filter((line) => line.pid === pid)), value };
}

function edgesByGraph(lines: readonly { readonly kind: string; readonly values: readonly number[]; readonly name: string }[]): ComputedEdge[][] {
  const graphs: ComputedEdge[][] = [];
  let begun = new Map<number, string>(), tensor = "";
  for (const { kind, values: [first, ...addresses], name } of lines) {
    if (kind === "graph") {
      graphs.push([]);
      begun = new Map();
    } else if (kind === "tensor") begun.set(first!, tensor = name);
    else {
      const from = addresses.map((address) => begun.get(address)).find((name) => name !== undefined);
      graphs.at(-1)!.push({ tensor, place: first!, source: name, from });
    }
  }
  return graphs;
}

/** More nodes than the graphs of small models have; every version's verifier follows a loop of so many turns. */
const MOST_NODES = 128;

/** How often a node of each operator (by number) stood in a graph whose computation began, by process; and whether all fitted. */
export async function computedNodes<T>(
  options: { readonly bpftrace: string; readonly library: string; readonly whileRunning: () => Promise<T> },
): Promise<{ of(pid: number): Map<number, number>; value: T }> {
  const { rowsOf, value } = await countNodes({ ...options, at: "ggml_graph_compute", graph: "arg0", by: "(uint64)0" });
  return { of: (pid) => new Map(rowsOf(pid).map(({ op, count }) => [op, count])), value };
}

/** The same of parts of graphs, apart for each backend that computed some; `library` is libggml-base. */
export async function computedParts<T>(
  options: { readonly bpftrace: string; readonly library: string; readonly whileRunning: () => Promise<T> },
): Promise<{ of(pid: number): Map<number, number>[]; value: T }> {
  const { rowsOf, value } = await countNodes({ ...options, at: "ggml_backend_graph_compute_async", graph: "arg1", by: "arg0" });
  const of = (pid: number) => {
    const backends = Map.groupBy(rowsOf(pid), ({ by }) => by);
    return [...backends.values()].map((rows) => new Map(rows.map(({ op, count }) => [op, count])));
  };
  return { of, value };
}

/** Nodes of each graph that a function is called with, by process, by what else it is called with, and by operator. */
async function countNodes<T>(
  { bpftrace, library, whileRunning, at, graph, by }: {
    readonly bpftrace: string;
    readonly library: string;
    readonly whileRunning: () => Promise<T>;
    readonly at: string;
    readonly graph: string;
    readonly by: string;
  },
): Promise<{ rowsOf(pid: number): { by: string; op: number; count: number }[]; value: T }> {
  // struct ggml_cgraph: n_nodes 4, nodes 16.
  const program = `uprobe:${quoted(library)}:${at} {
  $nodes = *(int32 *)(${graph} + 4);
  if ($nodes > ${MOST_NODES}) { @more[pid] = count(); }
  $i = 0;
  while ($i < ${MOST_NODES}) {
    if ($i < $nodes) { @nodes[pid, ${by}, *(int32 *)(*(uint64 *)(*(uint64 *)(${graph} + 16) + (uint64)$i * 8) + 80)] = count(); }
    $i = $i + 1;
  }
}`;
  const { stdout, value } = await trace(bpftrace, program, whileRunning);
  const rows = [...stdout.matchAll(/^@nodes\[(\d+), (-?\d+), (\d+)\]: (\d+)$/gm)].map(([, pid, by, op, count]) => ({
    pid: Number(pid),
    by: by!,
    op: Number(op),
    count: Number(count),
  }));
  const rowsOf = (pid: number) => {
    if (new RegExp(`^@more\\[${pid}\\]`, "m").test(stdout)) throw new Error(`Some graphs have more than ${MOST_NODES} nodes.`);
    return rows.filter((row) => row.pid === pid);
  };
  return { rowsOf, value };
}
