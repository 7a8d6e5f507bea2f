/**
 * Process and thread of a record in one number, because bpftrace and llmprof pay for each number of a line. The kernel gives no id of 2^22
 * (`PID_MAX_LIMIT` on 64 bits) or more, so that the two stay below 2^44: exact in a program and in JavaScript. 0 is nobody.
 */
const IDS = 2 ** 22;

/** As a program writes it. `pid` has 32 bits in newer bpftraces, hence the cast. */
export const WHO = `(uint64)pid * ${IDS} + tid`;

/** False for NaN too. */
export function isWho(number: number): boolean {
  return number >= 0 && number < IDS ** 2;
}

export function whoIs(pid: number, tid = pid): number {
  return pid * IDS + tid;
}

// Both by operators on 32 bits: what an event holds stays a small integer, which the engine stores without a box.

export function pidOf(who: number): number {
  return (who / IDS) | 0;
}

export function tidOf(who: number): number {
  return who & (IDS - 1);
}
