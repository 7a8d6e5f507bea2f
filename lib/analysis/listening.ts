import type { Ns } from "../events/time.ts";

/** A socket that began to listen, how many forks its process is away from the root, and its port, where it has one. */
export interface Listening {
  readonly at: Ns;
  readonly depth: number;
  readonly port: number | undefined;
}

/** The one at which a server is asked, of those that listened before it had answered; `depth`: of the process that was seen to accept connections. */
export function whereAsked(all: readonly Listening[], depth: number, answered: Ns = Infinity): Listening | undefined {
  let asked: Listening | undefined;
  for (const one of all) if (one.at <= answered && (!asked || isRather(one, asked, depth))) asked = one;
  return asked;
}

/**
 * Whether clients come to this one, and not to the other. Long before it can be asked a server has sockets for what it has started itself: those have
 * no port, or are its workers', or nobody accepts at them.
 */
function isRather(one: Listening, other: Listening, depth: number): boolean {
  const isReached = one.port !== undefined, accepts = one.depth === depth;
  if (isReached !== (other.port !== undefined)) return isReached;
  return accepts === (other.depth === depth) ? one.depth < other.depth : accepts;
}
