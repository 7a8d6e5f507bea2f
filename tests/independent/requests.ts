import type { Bpftrace } from "../harness/bpftraces.ts";
import { temporary } from "../harness/temporary.ts";
import { trace } from "./trace.ts";

/**
 * How long each request waited in a scheduler, if it was put into one, and how long the device took for it, in nanoseconds rounded down to microseconds, in
 * ascending order. Counted in the kernel: what a judge takes to print a line would lie in the times of whoever looks behind it. At raw tracepoints where there
 * are any, by the request's own address: at others the kernel skips one of fifty, and not any ones.
 */
export async function requestTimes<T>(
  bpftrace: Bpftrace,
  dev: number,
  whileRunning: () => Promise<T>,
): Promise<{ queued: number[]; times: number[]; value: T }> {
  const [kind, of, request] = hasRawTracepoints(bpftrace)
    ? ["rawtracepoint", "((struct request *)arg0)->q->disk->part0->bd_dev", "arg0"]
    : ["tracepoint:block", "args->dev", "args->sector"];
  const program = `
${kind}:block_rq_insert /${of} == ${dev}/ { @inserted[${request}] = nsecs; }
${kind}:block_rq_issue /${of} == ${dev}/ { @issued[${request}] = nsecs; }
${kind}:block_rq_complete /${of} == ${dev} && @issued[${request}]/ {
  @took[(nsecs - @issued[${request}]) / 1000] = count();
  if (@inserted[${request}]) { @queued[(@issued[${request}] - @inserted[${request}]) / 1000] = count(); }
  delete(@inserted[${request}]);
  delete(@issued[${request}]);
}`;
  using folder = temporary();
  const list = folder.file("traceable");
  Deno.writeTextFileSync(
    list,
    ["insert", "issue", "complete"].map((what) => `__traceiter_block_rq_${what}\n__probestub_block_rq_${what}\n`).join(""),
  );
  const { stdout, value } = await trace(bpftrace.path, program, whileRunning, minor(bpftrace) >= 27 ? ["--traceable-functions", list] : []);
  return { queued: ascending(stdout, "queued"), times: ascending(stdout, "took"), value };
}

function ascending(stdout: string, map: string): number[] {
  const rows = [...stdout.matchAll(new RegExp(`^@${map}\\[(\\d+)\\]: (\\d+)$`, "gm"))].map(([, us, count]) => [Number(us), Number(count)] as const);
  return rows.sort(([a], [b]) => a - b).flatMap(([us, count]) => Array.from({ length: count }, () => us * 1000));
}

/** The nearest-rank quantile of ascending numbers. */
export function quantileOf(ascending: readonly number[], q: number): number {
  return ascending[Math.max(0, Math.ceil(q * ascending.length) - 1)]!;
}

/** Before 0.23 bpftrace gets along with none, or badly; from 0.24 on they have to be in a list, which not every kernel gives, and 0.27 takes one. */
export function hasRawTracepoints(bpftrace: Bpftrace): boolean {
  return minor(bpftrace) === 23 || minor(bpftrace) >= 27;
}

function minor({ name }: Bpftrace): number {
  return Number(name.split(".")[1]);
}
