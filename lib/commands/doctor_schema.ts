import * as z from "zod";

/** What `doctor --summary json` prints. */
export const doctorSummarySchema = z.object({
  schemaVersion: z.literal(1),
  command: z.literal("doctor"),
  bpftrace: z.object({ path: z.string(), version: z.string() }).nullable(),
  result: z.object({
    canTrace: z.boolean(),
    checks: z.array(z.object({
      need: z.string(),
      /** `warning`: it can trace, but less or at a higher price. */
      state: z.enum(["ok", "warning", "missing"]),
      found: z.string(),
      /** What does not work without it; empty when it is there. */
      consequence: z.string(),
      /** The command or step that fixes it; empty when it is there or nothing does. */
      fix: z.string(),
    })),
  }),
});

export type DoctorSummary = z.infer<typeof doctorSummarySchema>;
