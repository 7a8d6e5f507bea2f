import * as z from "zod";
import { SCHEMA_VERSION } from "./summary.ts";

const count = z.int().nonnegative();
/** An integer that a JSON number cannot hold exactly, in decimal. */
const bigNs = z.string().regex(/^-?\d+$/);

/**
 * What `--summary json` prints of every command that traces or replays; `result` has the command's own schema. A run that ends before it counts prints
 * none.
 */
export function summarySchema<Result extends z.ZodType>(result: Result) {
  return z.object({
    schemaVersion: z.literal(SCHEMA_VERSION),
    command: z.string(),
    /** `exitCode` is null while it runs, and where nobody saw how it ended; 128+n: killed by signal n. */
    target: z.object({ pid: count, argv: z.array(z.string()), exitCode: z.int().nullable() }).nullable(),
    clock: z.object({
      name: z.literal("boottime"),
      /** CLOCK_BOOTTIME at trace time 0: add it to what a result calls trace time. */
      baseNs: bigNs,
      /** CLOCK_REALTIME minus CLOCK_BOOTTIME at the start. */
      realtimeOffsetNs: bigNs,
    }),
    /** CLOCK_BOOTTIME; beyond 104 days of uptime exact to 2 ns. Null: nothing was attached. */
    startNs: z.number().nullable(),
    endNs: z.number().nullable(),
    /** Null: could not be found out. More fields may follow. */
    host: z.looseObject({
      kernel: z.string().nullable(),
      cpu: z.string().nullable(),
      cpus: count.nullable(),
      governor: z.string().nullable(),
      memoryBytes: z.number().nullable(),
      engine: z.string().nullable(),
      engineVersion: z.string().nullable(),
      model: z.string().nullable(),
      quantisation: z.string().nullable(),
      threads: count.nullable(),
      affinity: z.string().nullable(),
    }),
    bpftrace: z.object({ path: z.string(), version: z.string() }).nullable(),
    /** `hits`: null where the program does not count. */
    probes: z.array(z.object({ name: z.string(), site: z.string(), cost: z.string(), hits: count.nullable() })),
    events: z.object({
      emitted: count,
      received: count,
      lost: count,
      /** Hits that the kernel did not run; part of `lost`. */
      skipped: count.optional(),
      undecodable: count,
    }),
    overhead: z.object({
      /**
       * CPU time of the target with tracing over without, less 1: 0.012 is 1.2 %. Predicted from the hits that were counted and what a hit costs here;
       * null: nothing is known of one of the two. Measured: how much longer a decode of one token took than in the second under --max-overhead
       * in which the probes of tokens and graphs were attached alone; null: there was no such second.
       */
      predicted: z.number().nullable(),
      measured: z.number().nullable(),
      /** Whether what a hit costs was measured on this machine; otherwise it is a guess. */
      calibrated: z.boolean(),
      /** Layers that are not in what is predicted: they are hit more often than they tell. */
      unpriced: z.array(z.string()).optional(),
      /** Under --max-overhead: what was predicted of each --detail from the one that was asked for on, before anything was attached; null: not known. */
      details: z.record(z.string(), z.number().nullable()).optional(),
      bpftraceCpuSeconds: z.number().nullable(),
      llmprofCpuSeconds: z.number().nullable(),
    }),
    outputs: z.array(z.object({ path: z.string(), format: z.string(), bytes: count.nullable() })),
    /** What the trace's reader must know. */
    notes: z.array(z.string()),
    result,
  });
}
