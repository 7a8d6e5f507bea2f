import { singly } from "../events/chain.ts";
import type { Chain, Mark, Slice, Span } from "../events/span.ts";
import { type Ceilings, ceilingsFor } from "../machine/ceilings/ceilings.ts";
import { type Detail, withEveryOperator, withGraphs, withOperators } from "../programs/detail.ts";
import type { Analysis } from "./analysis.ts";
import { boundOf, staysInCache } from "./bound.ts";
import { ContextTables } from "./context_tables.ts";
import { CounterLedger } from "./counter_ledger.ts";
import { criticalPathResult } from "./critical_path.ts";
import { DecodeCalls } from "./decode_calls.ts";
import { ExpertLedger } from "./expert_ledger.ts";
import { GraphLedger } from "./graph_ledger.ts";
import { LibraryCalls } from "./library_calls.ts";
import { OffloadLedger } from "./offload.ts";
import { type Judge, phaseOf } from "./operator_sums.ts";
import type { OperatorsResult } from "./operators_schema.ts";
import { QualityCount } from "./quality.ts";
import { SampleLedger } from "./sample_ledger.ts";
import { StoppedTimes } from "./stopped.ts";
import { SystemCalls } from "./system_calls.ts";
import { Windows } from "./windows.ts";

/**
 * Which operators take the time, and how fast tokens come: sums as spans arrive, in memory that does not grow with their number. `partly`: only some
 * of the calls were looked at in that detail, of others no graph was seen.
 */
export function operators(detail: Detail = "op", ceilings: readonly Ceilings[] = [], partly = false): Analysis<OperatorsResult> {
  return new OperatorsAnalysis(detail, ceilings, partly);
}

/** Kinds of tensors by which llama.cpp chooses experts, and puts together what these say. */
const ROUTER = /^ffn_moe_(logits|probs|group_topk|argsort|topk|weights)/, GATHER = /^ffn_moe_(weighted|out)/;

function timeOf(tensors: OperatorsResult["tensors"], kind: RegExp): number {
  return tensors.reduce((sum, { name, totalNs }) => kind.test(name) ? sum + totalNs : sum, 0);
}

class OperatorsAnalysis implements Analysis<OperatorsResult> {
  readonly #stopped = new StoppedTimes();
  readonly #tables = new ContextTables();
  readonly #ledger: GraphLedger;
  readonly #library = new LibraryCalls(this.#stopped);
  readonly #calls = new DecodeCalls(this.#stopped, this.#library);
  readonly #offload = new OffloadLedger(this.#stopped);
  readonly #experts = new ExpertLedger(this.#stopped);
  readonly #samples = new SampleLedger();
  readonly #counters = new CounterLedger();
  readonly #systemCalls = new SystemCalls();
  readonly #quality = new QualityCount();
  readonly #windows = new Windows();
  readonly #pids = new Set<number>();
  /** In successful calls that ended: what `graphsInDecodeNs` can be compared with. */
  #graphsInDecodeNs = 0;
  #devicesInDecodeNs = 0;

  /** Of the successful calls that ended, those in which a graph was seen. */
  #decodesWithGraphsNs = 0;
  /** Calls that generate, in which a graph was seen. */
  #tokensWithGraphs = 0;

  constructor(readonly detail: Detail, readonly ceilings: readonly Ceilings[], readonly partly: boolean) {
    this.#ledger = new GraphLedger(this.#tables, this.#stopped, detail === "sum");
  }

  span(span: Span): void {
    if (span.type === "slice") this.#slice(span);
    else if (span.type === "chain" && span.category === "ggml.op") this.#operators(span);
    else if (span.type === "mark") this.#mark(span);
    else if (span.type === "instant" && span.category === "ggml.sample") this.#samples.sample(span);
    else if (span.type === "instant" && span.category === "ggml.sum") this.#ledger.sum(span);
    else if (span.type === "instant" && span.category === "ggml.experts") this.#experts.choice(span);
    else if (span.type === "instant" && span.category === "ggml.counted") this.#counters.counted(span);
    else if (span.type === "instant" && span.category === "process.syscalls") this.#systemCalls.instant(span);
    else if (span.type === "name") this.#systemCalls.name(span);
    else if (span.type === "instant" && span.category === "llama.memory") this.#library.change(span);
  }

  result(): OperatorsResult {
    this.#ledger.finish();
    const { count, openCount, nodes, withoutOperators, unattached, graphNs, threads, imbalance } = this.#ledger;
    const time = this.#calls.time();
    const { detail } = this;
    const seesEach = withEveryOperator.includes(detail);
    const workers = [...seesEach ? this.#ledger.workers : []].sort(([a], [b]) => a - b).map(([worker, { calls, ns, waitNs, preempted }]) => ({
      worker,
      calls,
      busyNs: ns,
      waitNs: detail === "wait" ? waitNs : null,
      preempted: this.#ledger.preemptions.seen ? preempted : null,
    }));
    const seesGraphs = withGraphs.includes(detail), seesOperators = withOperators.includes(detail);
    const most = seesEach ? workers.length : Math.max(...Object.values(threads));
    const ceilingsOf = (threads: number) => seesOperators ? ceilingsFor(threads, this.ceilings) : undefined;
    const ceilings = ceilingsOf(most);
    const table = this.#tables.all();
    // Where others compute a part, a token is several graphs, and reads the weights of all; a long prompt is several over the same.
    const tokens = this.#tokensWithGraphs, cold = tokens > 0 ? table.coldBytes(["decode"]) : table.coldBytes();
    const times = tokens || count;
    const inCache = ceilings && staysInCache({ ...cold, bytes: cold.bytes / times, withAll: cold.withAll / times }, ceilings);
    const judge: Judge = (demands, phase) => {
      // Prompts may have more threads than tokens.
      const own = ceilingsOf(phase && threads[phase] > 0 ? Math.min(most, threads[phase]) : most);
      return own && inCache ? boundOf(demands, own, inCache) : null;
    };
    const measures = { graphNs, seesWaits: detail === "wait", seesEach, judge };
    const rows = table.result(measures);
    const layers = this.#experts.result();
    const inGraphs = seesGraphs ? this.#graphsInDecodeNs : null;
    return {
      detail,
      windows: this.#windows.result(),
      processes: this.#pids.size,
      ...this.#calls.result((context) => this.#tables.operatorsOf(context, measures)),
      time: {
        ...time,
        graphNs: seesGraphs ? graphNs : null,
        graphsInDecodeNs: inGraphs,
        devicesInDecodeNs: this.#devicesInDecodeNs,
        outsideGraphNs: inGraphs === null ? null : (this.partly ? this.#decodesWithGraphsNs : time.decodeNs) - inGraphs - this.#devicesInDecodeNs,
        stoppedNs: this.#stopped.union().total,
      },
      ...this.#library.result(table.mostCells),
      graphs: {
        count,
        openCount,
        nodes,
        withoutOperators: seesOperators ? withoutOperators : 0,
        imbalance: detail === "wait" ? imbalance : null,
      },
      ...(seesOperators ? rows : { operators: [], layers: [], tensors: [] }),
      workers,
      unattachedCalls: unattached,
      criticalPath: criticalPathResult(this.#ledger.computed),
      samples: detail === "sample" ? this.#samples.result() : null,
      counters: this.#counters.result(),
      ceilings: ceilings ?? null,
      offload: this.#offload.result(),
      experts: layers && { layers, routerNs: timeOf(rows.tensors, ROUTER), gatherNs: timeOf(rows.tensors, GATHER) },
      systemCalls: this.#systemCalls.result(),
      quality: this.#quality.result(),
    };
  }

  #mark(mark: Mark): void {
    this.#quality.mark(mark);
    this.#windows.mark(mark);
    if (mark.kind === "ended") this.#calls.interrupt();
  }

  #operators(span: Slice | Chain): void {
    if (this.#experts.expectsProducts) {
      for (const slice of singly(span)) if (slice.node?.op === "MUL_MAT_ID") this.#experts.product(slice);
    }
    this.#ledger.ops(span);
  }

  #slice(slice: Slice): void {
    switch (slice.category) {
      case "ggml.op":
        return this.#operators(slice);
      case "ggml.wait":
        return this.#ledger.wait(slice);
      case "ggml.graph":
        this.#pids.add(slice.track.pid);
        return this.#ledger.graph(slice);
      case "llama.decode": {
        this.#pids.add(slice.track.pid);
        this.#calls.decode(slice);
        this.#samples.decode(slice);
        const inside = this.#ledger.decode(slice, this.#calls.contextOf(slice));
        const onDevices = this.#offload.decode(slice);
        if (slice.open || Number(slice.args?.ret ?? 0) !== 0) return;
        this.#graphsInDecodeNs += inside;
        this.#devicesInDecodeNs += onDevices;
        if (inside > 0 && phaseOf(slice) === "decode") this.#tokensWithGraphs++;
        if (inside + onDevices > 0) this.#decodesWithGraphsNs += this.#stopped.net(slice.track.pid, slice.start, slice.end);
        return;
      }
      case "ggml.split":
        return this.#offload.slice(slice);
      case "ggml.copy":
      case "ggml.device_wait":
        this.#library.explains(slice);
        return this.#offload.slice(slice);
      case "llama.sample":
        return this.#calls.sample(slice);
      case "llama.context":
        this.#calls.made(slice);
        this.#ledger.calls(slice.track.pid);
        return this.#library.context(slice);
      case "llama.warmup":
        return this.#library.explains(slice);
      case "llama.encode":
      case "llama.tokenize":
      case "llama.detokenize":
      case "llama.save":
      case "llama.restore":
        return this.#library.call(slice);
      case "sched.off":
      case "sched.offs":
        return this.#ledger.preemptions.off(slice);
      case "llmprof.stopped":
        return this.#stopped.add(slice);
    }
  }
}
