import { armSite } from "./aarch64.ts";
import { x86Site } from "./x86_64.ts";

/**
 * What a uprobe hit costs, decided by the instruction that it replaces: `nop`: the 5-byte nop where the kernel turns it into a call;
 * `emulated`: the kernel does the instruction's work itself; `stepped`: the thread is stepped over a copy of it, ten times dearer in a
 * virtual machine.
 */
export type CostClass = "nop" | "emulated" | "stepped";

export interface SiteChoice {
  /** Bytes after the function's first. */
  readonly offset: number;
  readonly cost: CostClass;
}

/** What decides besides the instruction. */
export interface SiteHost {
  /** This bpftrace finds what llmprof names. */
  readonly symbols: boolean;
  /** … by patterns alone. */
  readonly patterns?: boolean;
  /** This bpftrace accepts `function+4`, for entries. */
  readonly offsets: boolean;
  /** This bpftrace hands over as many arguments of a marker (USDT) as one may have. */
  readonly markers?: boolean;
  /** Kernel release, such as `6.18.44`: newer ones emulate more. */
  readonly kernel: string;
  readonly arch: "x86_64" | "aarch64";
}

/** How instructions of a processor are read. */
export interface Instructions {
  /** What a probe on the first instruction costs; null where the kernel refuses one. */
  classify(bytes: Uint8Array, kernel: string): CostClass | null;
  /** Bytes of the first instruction if it leaves all registers but flags, and the stack, as they are; else 0. */
  quiet(bytes: Uint8Array): number;
  /** Whether the place is passed once in a call, for sure. `isWhole`: the code is all of the function. */
  isOnce(code: Uint8Array, offset: number, isWhole: boolean): boolean;
}

/** Bytes of the function that {@link chooseSite} looks at, at most. */
export const siteBytes = 65_536;

/**
 * Chooses where to place a probe; null where the kernel refuses one. `code` is the function as far as it is known, `size` its length, 0 where nobody
 * tells. Builds with `-fcf-protection` begin every function with `endbr64` and those with `-mbranch-protection` with `bti c`, which are stepped, and
 * many functions that others call go on with `test %rdi,%rdi`. Behind these all arguments are still in their registers and the return address is
 * where it was, which is what a return probe takes the place of. Behind anything else they may not be.
 */
export function chooseSite(code: Uint8Array, size: number, host: SiteHost, probe: "entry" | "return"): SiteChoice | null {
  const { classify, quiet, isOnce } = host.arch === "x86_64" ? x86Site : armSite;
  const first = classify(code, host.kernel);
  if (first === null) return null;
  const mayMove = host.symbols || (host.offsets && probe === "entry");
  let cost: CostClass | null = first;
  for (let offset = 0, length; mayMove && cost === "stepped" && (length = quiet(code.subarray(offset))) > 0;) {
    offset += length;
    cost = classify(code.subarray(offset), host.kernel);
    if (cost !== null && cost !== "stepped" && isOnce(code, offset, size > 0 && code.length >= size)) return { offset, cost };
  }
  return { offset: 0, cost: first };
}
