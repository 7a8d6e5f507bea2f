/**
 * What a uprobe hit costs, decided by the instruction that it replaces: `nop`: the 5-byte nop, which recent kernels turn into a jump;
 * `emulated`: the kernel does the instruction's work itself; `stepped`: the thread is stepped over a copy of it, ten times dearer in a
 * virtual machine.
 */
export type CostClass = "nop" | "emulated" | "stepped";

export interface SiteChoice {
  /** Bytes after the function's first. */
  readonly offset: 0 | 4;
  readonly cost: CostClass;
  /** What a bpftrace that accepts offsets would make of it, where this one does not and it would be cheaper. */
  readonly gain: CostClass | null;
}

/** Bytes of the function that {@link chooseSite} looks at. */
export const siteBytes = 12;

/**
 * Chooses where to place an entry probe. Builds with `-fcf-protection` begin every function with `endbr64`, which is stepped; the
 * instruction behind it is mostly a `push`, and there all arguments are still in their registers. A return probe has no choice: it must sit
 * on the entry.
 */
export function chooseSite(bytes: Uint8Array, can: { readonly offsets: boolean }, arch: "x86_64" | "aarch64" = "x86_64"): SiteChoice {
  if (arch === "aarch64") return { offset: 0, cost: isArmNop(bytes) ? "emulated" : "stepped", gain: null };
  const cost = costOf(bytes);
  if (!startsWith(bytes, endbr64)) return { offset: 0, cost, gain: null };
  const behind = costOf(bytes.subarray(4));
  if (behind === "stepped") return { offset: 0, cost, gain: null };
  return can.offsets ? { offset: 4, cost: behind, gain: null } : { offset: 0, cost, gain: behind };
}

/**
 * The cost class of the first x86-64 instruction in `bytes`. What the kernel emulates stands in its arch/x86/kernel/uprobes.c: pushes of
 * registers, jumps and calls relative to the instruction pointer, and the one-byte nop; newer ones more, which is not counted on.
 */
export function costOf(bytes: Uint8Array): CostClass {
  if (startsWith(bytes, nop5)) return "nop";
  const [first = 0, second = 0] = bytes;
  const isPush = isPushCode(first) || (first === 0x41 && isPushCode(second));
  const isNop = first === 0x90 || (first === 0x66 && second === 0x90);
  const isBranch = first === 0xe8 || first === 0xe9 || first === 0xeb || (first & 0xf0) === 0x70 || (first === 0x0f && (second & 0xf0) === 0x80);
  return isPush || isNop || isBranch ? "emulated" : "stepped";
}

const endbr64 = [0xf3, 0x0f, 0x1e, 0xfa];
const nop5 = [0x0f, 0x1f, 0x44, 0x00, 0x00];

function isPushCode(byte: number): boolean {
  return byte >= 0x50 && byte <= 0x57;
}

/** The hint that does nothing. `bti` and `paciasp`, with which functions begin, are hints too, but not ones that can be stepped past. */
function isArmNop(bytes: Uint8Array): boolean {
  return startsWith(bytes, [0x1f, 0x20, 0x03, 0xd5]);
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, i) => bytes[i] === byte);
}
