/** One thing that tracing needs, or does better with: what was looked for, what is here, what that costs and what mends it. */
export interface Check {
  /** What is needed, so that "Tracing needs …" is a sentence. */
  readonly need: string;
  /** `missing`: nothing can be traced. `warning`: less can be traced, or at a higher price. `unknown`: this user may not look. */
  readonly state: "ok" | "warning" | "missing" | "unknown";
  readonly found: string;
  /** What does not work without it; empty when it is there. */
  readonly consequence: string;
  /** The command that mends it, as it can be typed; empty when there is nothing to mend, or no command does. */
  readonly fix: string;
  /** What else helps, in words; may stand beside a command. */
  readonly advice: string;
}

/** What a lacking need says about itself. */
export interface Lack {
  readonly consequence: string;
  readonly fix?: string;
  readonly advice?: string;
}

export function ok(need: string, found: string): Check {
  return { need, state: "ok", found, consequence: "", fix: "", advice: "" };
}

export function unknown(need: string, found: string): Check {
  return { ...ok(need, found), state: "unknown" };
}

export function missing(need: string, found: string, { consequence, fix = "", advice = "" }: Lack): Check {
  return { need, state: "missing", found, consequence, fix, advice };
}

export function warning(need: string, found: string, lack: Lack): Check {
  return { ...missing(need, found, lack), state: "warning" };
}
