import type { Ns } from "../events/time.ts";

/** A socket that began to listen, how many forks its process is away from the root, and its port, where it has one. */
export interface Listening {
  readonly at: Ns;
  readonly depth: number;
  readonly port: number | undefined;
}

/** The one at which a server is asked, of those that listened before it had answered. */
export function whereAsked(all: readonly Listening[], answered: Ns = Infinity): Listening | undefined {
  let asked: Listening | undefined;
  for (const one of all) if (one.at <= answered && (!asked || isOuter(one, asked))) asked = one;
  return asked;
}

/**
 * Whether it is this one that clients come to, and not the other. Long before it can be asked a server has sockets for what it has started itself:
 * those have no port, or are its workers'.
 */
function isOuter(one: Listening, other: Listening): boolean {
  const isReached = one.port !== undefined;
  return isReached === (other.port !== undefined) ? one.depth < other.depth : isReached;
}
