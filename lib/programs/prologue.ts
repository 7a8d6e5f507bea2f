/** What every program begins with, whatever its probes are: how its window is opened and shut, and its heartbeat. */
import { filterBegin, filterTold } from "./filter.ts";
import type { Probe } from "./probe.ts";
import type { ProgramPlan } from "./render.ts";
import { repeatBegin } from "./repeat.ts";
import type { RotatingMaps } from "./rotating_maps.ts";
import { Kind, LINES } from "./schema.ts";

export const HEARTBEAT_MS = 100;
/**
 * How often a processor's own buffer beats. The kernel skips a beat that falls into a running program, as one in four does on the processor of a busy
 * target: often enough that a few skipped ones do not matter, and for all buffers together no more than five hundred a second.
 */
const beatMs = (buffers: number) => Math.max(17, 2 * buffers);
/** Both are ignored by default: they say something to the program and nothing to bpftrace. */
const SIGURG = 23, SIGWINCH = 28;

/** Stands for bpftrace's own process id until it is started. */
export const SELF = "{{self}}";

/** The ways of a record out of the kernel. */
export interface WayOut {
  /** Of frequent ones where there is no ring buffer. */
  readonly rotating: RotatingMaps | null;
  /** What counts a line that is printed; empty where all processors share a buffer. */
  readonly line: string;
  /** Texts are printed as that bpftrace can, and not as hexadecimal numbers. */
  readonly escapes: boolean;
}

/**
 * The window is opened and closed by a `kill` of llmprof's that the program itself sees, so that all its probes begin and end at one instant.
 * (Not by `signal_generate`: a gate's own signal would fire that inside a running program, which the kernel skips and counts as a miss.)
 * `ready` is printed when every probe is attached (bpftrace polls its buffers only then), with one reading of both clocks.
 */
export function beginning(
  plan: ProgramPlan,
  { rotating, line }: WayOut,
  repeats: boolean,
  closing: readonly string[],
  closed: readonly string[],
): string[] {
  const begin = [
    filterBegin(plan.filter),
    ...(rotating?.begin() ?? []),
    ...(repeats ? [repeatBegin()] : []),
    `@w = ${plan.window === "open" ? 1 : 0};`,
    `${line}printf("${Kind.clock} %llu %s\\n", nsecs, strftime("%s.%f", nsecs)); print("ready");`,
  ];
  const window = (signal: number, set: string, kind: number) => `if ($signal == ${signal}) { ${set} ${line}printf("${kind} %llu 0\\n", nsecs); }`;
  // Before, so that nothing counts that does not look at `@w`; and again, for what was set while `@w` was still seen.
  const shut = [...new Set(plan.probes.flatMap(({ whileOpen }) => whileOpen ?? []))].map((map) => `@${map} = 0;`).join(" ");
  if (plan.window === "open") return [`BEGIN { ${begin.join(" ")} }`];
  const told = filterTold(plan.filter);
  const ours = [
    window(SIGWINCH, "@w = 1;", Kind.open),
    window(SIGURG, `${closing.join(" ")} ${shut} @w = 0; ${shut} ${closed.join(" ")}`.trim(), Kind.close),
    ...told.ours,
  ];
  // One block: the kernel runs no more than 64 programs at a tracepoint, and each block is one.
  const signalled = `$to = args->pid; $signal = args->sig; if ($to == ${SELF}) { ${ours.join(" ")} }`;
  return [`BEGIN { ${begin.join(" ")} }`, `tracepoint:syscalls:sys_enter_kill { ${[signalled, ...told.others].join(" ")} }`];
}

/**
 * Watermark, flush (`print` ends a block, `printf` does not) and counter in one. A watermark holds for the buffer that it comes through. The counter
 * comes last: whoever has read the final one has read all, where a map with thousands of rows would still be on its way.
 */
export function heartbeat(probes: readonly Probe[], perCpuBuffers: number): string[] {
  const printed = (maps: readonly string[]) => maps.map((map) => `print(@${map});`).join(" ");
  const sums = printed(probes.flatMap((probe) => Object.keys(probe.sums ?? {})));
  const always = printed([...probes.flatMap((probe) => Object.keys(probe.maps ?? {})), "n"]);
  const counters = sums === "" ? always : `if (@w == 0) { ${sums} } ${always}`;
  if (perCpuBuffers === 0) return [`interval:ms:${HEARTBEAT_MS} { print((9, nsecs)); ${counters} }`];
  return [`profile:ms:${beatMs(perCpuBuffers)} { print((9, nsecs, cpu)); }`, `interval:ms:${HEARTBEAT_MS} { ${counters} print(@${LINES}); }`];
}
