import type { Context } from "./terminal.ts";

const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
export type EndSignal = keyof typeof numbers;

/**
 * For so long after the first signal another one of its name is that one, told twice: `timeout` signals its child and then its group, and `sudo` hands
 * over what a service manager sends to both. Two Ctrl-Cs that somebody types are further apart, and a keyboard repeats none before a quarter of a second.
 */
const TWICE_MS = { SIGINT: 50, SIGTERM: 300 } as const;

export interface Ends extends Pick<Context, "interrupted" | "atKill"> {
  /** A signal has come. */
  came(signal: EndSignal): void;
}

/** The first signal is a normal end, the second is not: `exit` is called. `now`: milliseconds of a clock that goes on. */
export function ends(now: () => number, exit: (code: number) => void): Ends {
  const { promise: interrupted, resolve } = Promise.withResolvers<void>();
  let first: { readonly signal: EndSignal; readonly at: number } | undefined;
  let act = () => {};
  return {
    interrupted,
    atKill: (last) => act = last,
    came(signal) {
      if (!first) {
        first = { signal, at: now() };
        return resolve();
      }
      // A terminal that is closed says so several times, by its shell and by the kernel, and nobody does who wants more than an end.
      if (signal === "SIGHUP" || (signal === first.signal && now() - first.at < TWICE_MS[signal])) return;
      act();
      exit(128 + numbers[signal]);
    },
  };
}
