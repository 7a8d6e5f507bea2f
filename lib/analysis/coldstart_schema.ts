import * as z from "zod";
import { systemCallsSchema } from "./system_calls_schema.ts";

const count = z.int().nonnegative();
const ns = z.number();

const kindSchema = z.enum([
  "lock", // mlock
  "read", // a file opened and read
  "fault", // a file mapped and touched
  "map", // a file mapped and not (yet) touched
  "open", // a file opened and neither read nor mapped on that thread
  "library", // a library opened and mapped
  "sample",
  "decode",
  "encode",
  "context",
  "load", // the engine's model load
  "gpu", // a call of a GPU's library, where those are recorded too
  "listen",
  "memory", // anonymous memory touched for the first time
  "unexplained",
]);

const figuresSchema = z.object({
  /** What is put together: system calls, calls, stretches of faults. */
  count: count.optional(),
  /** Read, mapped, or locked; of a file that is mapped several times, the longest mapping, whatever is touched of it. */
  bytes: z.number().nonnegative().optional(),
  faults: count.optional(),
  tokens: count.optional(),
});

/** One activity as the program itself would log it, from its first event to its last. Phases overlap and nest. */
const phaseSchema = figuresSchema.extend({
  name: z.string(),
  kind: kindSchema,
  /** After the root's exec, in real time. */
  startNs: ns,
  /** Without `stoppedNs`. */
  durationNs: ns,
  stoppedNs: ns,
  /** Of the duration, what its slices cover: the rest is gaps of at most a few milliseconds between them. */
  busyNs: ns,
  file: z.string().optional(),
  /** How many files, where short phases of several were put together. */
  files: count.optional(),
  pid: count,
  tid: count,
  /** It had not ended when the run did. */
  open: z.boolean().optional(),
});

/** A timer's samples of one file's code. */
const codeSchema = z.object({ code: z.string(), samples: count });

/** A piece of the waterfall: exactly one at every instant, and their durations sum to `totalNs`. */
const stepSchema = figuresSchema.extend({
  name: z.string(),
  kind: kindSchema,
  /** After the root's exec, in real time: where the trace shows it. */
  startNs: ns,
  endNs: ns,
  /** Without the time at which llmprof held the processes still. */
  durationNs: ns,
  /** Of the duration: gaps too short for a step of their own. */
  unexplainedNs: ns,
  file: z.string().optional(),
  /** Where nothing explains it, and a timer told of some code at all: whose ran, most first. */
  codes: z.array(codeSchema).optional(),
  note: z.string().optional(),
});

/** What `coldstart` answers. Nanoseconds; stopped time is taken out of every duration. */
export const coldstartResultSchema = z.object({
  /** Null: no process was seen to start. `execNs` is trace time (absolute: plus `clock.baseNs` of the summary). */
  root: z.object({ pid: count, file: z.string().nullable(), execNs: ns, execSeen: z.boolean() }).nullable(),
  processes: count,
  /** From the root's exec to `end`. */
  totalNs: ns,
  /** Taken out of `totalNs`: llmprof held a process of the tree still. */
  stoppedNs: ns,
  end: z.enum(["first token", "last event"]),
  timeToFirstTokenNs: ns.nullable(),
  /**
   * What the first token rests on: the return of the first sampling after a prompt; the end of the call before the next one that generates; the
   * end of the last call, nothing having followed (a warm-up looks like that too). Null: no token.
   */
  firstTokenBasis: z.enum(["sampling", "next call", "last call"]).nullable(),
  /** Whether the call before the first token evaluated a prompt: otherwise generation was under way when the window opened. */
  promptSeen: z.boolean(),
  /** `atNs` after the root's exec without the time for which llmprof held a process (steps are in real time), in order. `port`: of `listening`. */
  milestones: z.array(z.object({ name: z.string(), atNs: ns, port: count.optional() })),
  steps: z.array(stepSchema),
  /** The same time by kind, most first. */
  kinds: z.array(z.object({ kind: kindSchema, totalNs: ns, share: z.number() })),
  /** Whose code ran while nothing explains the time, on all threads, by a timer's samples, most first; `error`: 95 of 100 shares lie no farther. Null: no sample. */
  whileUnexplained: z.object({
    perSecond: count,
    samples: count,
    codes: z.array(codeSchema.extend({ share: z.number(), error: z.number() })),
  }).nullable(),
  phases: z.array(phaseSchema),
  /** So many activities that neighbours had to be put together more coarsely than by a few milliseconds. */
  coarse: z.boolean(),
  /** What entered it over the whole trace; null: nothing was seen to. */
  pageCache: z.object({ bytes: z.number(), files: z.array(z.object({ file: z.string(), bytes: z.number() })) }).nullable(),
  /** Over the whole trace; null: not measured. */
  pageFaults: count.nullable(),
  locks: z.object({ lockedBytes: z.number(), failures: z.array(z.object({ errno: z.string(), count, bytes: z.number() })) }),
  /** With `--syscalls` alone. */
  systemCalls: systemCallsSchema.nullable(),
  quality: z.object({ lostEvents: count, undecodableLines: count }),
});

export type ColdstartResult = z.infer<typeof coldstartResultSchema>;
export type ColdstartKind = z.infer<typeof kindSchema>;
export type ColdstartPhase = z.infer<typeof phaseSchema>;
export type CodeSamples = z.infer<typeof codeSchema>;
export type ColdstartStep = z.infer<typeof stepSchema>;
