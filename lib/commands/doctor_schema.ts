import * as z from "zod";

/** What `doctor --summary json` prints. */
export const doctorSummarySchema = z.object({
  schemaVersion: z.literal(1),
  command: z.literal("doctor"),
  bpftrace: z.object({ path: z.string(), version: z.string() }).nullable(),
  result: z.object({
    canTrace: z.boolean(),
    /** In the order in which a person has to see to them. */
    checks: z.array(z.object({
      need: z.string(),
      /** `missing`: it cannot trace. `warning`: it can, but less or at a higher price. `unknown`: this user may not look. */
      state: z.enum(["ok", "warning", "missing", "unknown"]),
      found: z.string(),
      /** What does not work without it; empty when it is there. */
      consequence: z.string(),
      /** The command that mends it, as it can be typed; empty when nothing has to be mended or no command does. */
      fix: z.string(),
      /** What else helps, in words. */
      advice: z.string(),
    })).readonly(),
    /** Every probe of every command, and what it lacks here. */
    probes: z.array(z.object({
      probe: z.string(),
      summary: z.string(),
      needs: z.array(z.string()).readonly(),
      lacks: z.array(z.string()).readonly(),
    })).readonly(),
  }),
});

export type DoctorSummary = z.infer<typeof doctorSummarySchema>;
