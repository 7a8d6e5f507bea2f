import { trace } from "./trace.ts";

/**
 * How long a device took for each request, in nanoseconds rounded down to microseconds, in ascending order. Counted in the kernel: what a
 * judge takes to print a line would lie in the times of whoever looks behind it.
 */
export async function requestTimes<T>(bpftrace: string, dev: number, whileRunning: () => Promise<T>): Promise<{ times: number[]; value: T }> {
  const program = `
tracepoint:block:block_rq_issue /args->dev == ${dev}/ { @since[args->sector] = nsecs; }
tracepoint:block:block_rq_complete /args->dev == ${dev} && @since[args->sector]/ {
  @took[(nsecs - @since[args->sector]) / 1000] = count();
  delete(@since[args->sector]);
}`;
  const { stdout, value } = await trace(bpftrace, program, whileRunning);
  const rows = [...stdout.matchAll(/^@took\[(\d+)\]: (\d+)$/gm)].map(([, us, count]) => [Number(us), Number(count)] as const);
  return { times: rows.sort(([a], [b]) => a - b).flatMap(([us, count]) => Array.from({ length: count }, () => us * 1000)), value };
}

/** The nearest-rank quantile of ascending numbers. */
export function quantileOf(ascending: readonly number[], q: number): number {
  return ascending[Math.max(0, Math.ceil(q * ascending.length) - 1)]!;
}
