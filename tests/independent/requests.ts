import type { Bpftrace } from "../harness/bpftraces.ts";
import { temporary } from "../harness/temporary.ts";
import { trace } from "./trace.ts";

/**
 * How long a device took for each request, in nanoseconds rounded down to microseconds, in ascending order. Counted in the kernel: what a
 * judge takes to print a line would lie in the times of whoever looks behind it. At raw tracepoints where there are any, by the request's own address: at
 * others the kernel skips one of fifty, and not any ones.
 */
export async function requestTimes<T>(
  bpftrace: Bpftrace,
  dev: number,
  whileRunning: () => Promise<T>,
): Promise<{ times: number[]; value: T }> {
  const [kind, of, request] = hasRawTracepoints(bpftrace)
    ? ["rawtracepoint", "((struct request *)arg0)->q->disk->part0->bd_dev", "arg0"]
    : ["tracepoint:block", "args->dev", "args->sector"];
  const program = `
${kind}:block_rq_issue /${of} == ${dev}/ { @since[${request}] = nsecs; }
${kind}:block_rq_complete /${of} == ${dev} && @since[${request}]/ {
  @took[(nsecs - @since[${request}]) / 1000] = count();
  delete(@since[${request}]);
}`;
  using folder = temporary();
  const list = folder.file("traceable");
  Deno.writeTextFileSync(list, ["issue", "complete"].map((what) => `__traceiter_block_rq_${what}\n__probestub_block_rq_${what}\n`).join(""));
  const { stdout, value } = await trace(bpftrace.path, program, whileRunning, minor(bpftrace) >= 27 ? ["--traceable-functions", list] : []);
  const rows = [...stdout.matchAll(/^@took\[(\d+)\]: (\d+)$/gm)].map(([, us, count]) => [Number(us), Number(count)] as const);
  return { times: rows.sort(([a], [b]) => a - b).flatMap(([us, count]) => Array.from({ length: count }, () => us * 1000)), value };
}

/** The nearest-rank quantile of ascending numbers. */
export function quantileOf(ascending: readonly number[], q: number): number {
  return ascending[Math.max(0, Math.ceil(q * ascending.length) - 1)]!;
}

/** From 0.24 on raw tracepoints have to be in a list, which not every kernel gives, and 0.27 takes one. */
export function hasRawTracepoints(bpftrace: Bpftrace): boolean {
  return (minor(bpftrace) >= 20 && minor(bpftrace) < 24) || minor(bpftrace) >= 27;
}

function minor({ name }: Bpftrace): number {
  return Number(name.split(".")[1]);
}
