/** Both clocks at one moment, as a program prints them when it is ready: `3 <nsecs> <seconds>.<microseconds>`. */
export interface ClockReading {
  readonly boottime: bigint;
  readonly realtime: bigint;
}

export function parseClockLine(line: string): ClockReading | null {
  const found = /^3 (\d+) (\d+)\.(\d{6})\d*$/.exec(line);
  if (!found) return null;
  return { boottime: BigInt(found[1]!), realtime: BigInt(found[2]!) * 1_000_000_000n + BigInt(found[3]!) * 1000n };
}
