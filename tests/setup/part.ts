/** One thing that the tests need and that is not in git. */
export interface Part {
  readonly name: string;
  /** Says in a few words what it is: `node-llama-cpp 3.22.1`. */
  readonly what: string;
  /**
   * Parts that take nothing of what parts of other lanes make are made beside them: what lies in the root of another system, and what the
   * distribution's packages bring. All others fetch from npm and compile.
   */
  readonly lane?: "root" | "packages";
  /** Costs milliseconds: is there nothing to do? */
  isThere(): Promise<boolean> | boolean;
  /** Fetches or builds it. Throws a {@link CannotSetUp}. */
  make(): Promise<void>;
}

/** Why a part cannot be made here, and what a person can do about it. */
export class CannotSetUp extends Error {
  override readonly name = "CannotSetUp";

  constructor(why: string, next: string) {
    super(`${why} ${next}`);
  }
}

/** Throws unless this user may do what only root may. */
export function requireRoot(what: string): void {
  if (Deno.uid() !== 0) throw new CannotSetUp(`${what} needs root.`, "Run the same command with `sudo` in front.");
}
