/** Exit codes are part of the command-line contract. */
export const ExitCode = { ok: 0, failed: 1, usage: 2, machine: 3, limit: 4 } as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** A failure that a person can act on: one sentence what failed, one why, one next step to type. */
export class LlmprofError extends Error {
  override readonly name = "LlmprofError";

  constructor(
    readonly exitCode: ExitCode,
    /** What failed. */
    readonly what: string,
    readonly why: string,
    /** The next step, as something to type where there is one. */
    readonly next: string,
    options?: ErrorOptions,
  ) {
    super(`${what} ${why} ${next}`, options);
  }
}

/** A mistake on the command line. */
export function usage(what: string, why: string, next: string, options?: ErrorOptions): LlmprofError {
  return new LlmprofError(ExitCode.usage, what, why, next, options);
}
