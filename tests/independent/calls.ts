import { quoted, trace } from "./trace.ts";

export interface CountCalls<T> {
  /** Path of the bpftrace that counts. */
  readonly bpftrace: string;
  /** Which functions of which files: `{"/lib/libllama.so": ["llama_decode"]}`. */
  readonly functions: Readonly<Record<string, readonly string[]>>;
  readonly whileRunning: () => Promise<T>;
}

export interface Counted<T> {
  /** Entries into the function by a process; by all processes when no pid is given. */
  of(symbol: string, pid?: number): number;
  readonly value: T;
}

/** Counts entries into functions, in the kernel, apart for every process. */
export async function countCalls<T>({ bpftrace, functions, whileRunning }: CountCalls<T>): Promise<Counted<T>> {
  const probes = Object.entries(functions).flatMap(([library, symbols]) => symbols.map((symbol) => ({ library, symbol })));
  const program = probes.map(({ library, symbol }, index) => `uprobe:${quoted(library)}:${quoted(symbol)} { @calls[${index}, pid] = count(); }`);
  const { stdout, value } = await trace(bpftrace, program.join("\n"), whileRunning);
  // `@calls[0, 1234]: 8`, the same in every version.
  const rows = [...stdout.matchAll(/^@calls\[(\d+), (\d+)\]: (\d+)$/gm)].map(([, index, pid, count]) => ({
    symbol: probes[Number(index)]!.symbol,
    pid: Number(pid),
    count: Number(count),
  }));
  return {
    of(symbol, pid) {
      if (!probes.some((probe) => probe.symbol === symbol)) throw new Error(`${symbol} was not counted.`);
      return rows.filter((row) => row.symbol === symbol && (pid === undefined || row.pid === pid)).reduce((sum, row) => sum + row.count, 0);
    },
    value,
  };
}
