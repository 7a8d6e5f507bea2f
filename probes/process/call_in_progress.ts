import type { Param } from "../../lib/programs/probe.ts";

/**
 * The system call that a thread is in, by the registers that the kernel keeps at the end of the thread's stack: `$regs`, from `curtask->stack`, where they
 * are (on x86_64 16 bytes before in kernels that know FRED), whether it came in from user code, and the call's number: negative in a fault or an interrupt.
 */
export const callInProgress = {
  // A kernel's stack has 16 KiB, and no less than a page. The registers are at its end: as many bytes as this kernel says, on aarch64 320 or 336.
  regs: { type: "page", value: (bytes) => `${Math.max(16384, bytes)} - sizeof(struct pt_regs)` },
  padding: { type: "arch", x86_64: "16", aarch64: "0" },
  // The segment of user code; the exception level 0.
  fromUser: { type: "arch", x86_64: "*(uint64 *)($regs + 136) == 51", aarch64: "(*(uint64 *)($regs + 264) & 15) == 0" },
  number: { type: "arch", x86_64: "*(int64 *)($regs + 120)", aarch64: "*(int32 *)($regs + 280)" },
} as const satisfies Readonly<Record<string, Param>>;

/** `FIND_REGISTERS` makes `$regs`. */
export function withRegisters(template: string): string {
  const find = "$regs = (uint64)curtask->stack + {{regs}}; if ({{fromUser}} == 0) { $regs = $regs - {{padding}}; }";
  return template.replaceAll("FIND_REGISTERS", () => find);
}
