import * as z from "zod";

/** What `gpu --list-calls --summary json` prints. */
export const listedCallsSchema = z.object({
  schemaVersion: z.literal(1),
  command: z.literal("gpu --list-calls"),
  /** Whose functions these are; none: all that are decoded. */
  files: z.array(z.string()).readonly(),
  calls: z.array(z.object({
    function: z.string(),
    /** Whose it is, such as `cudart`; null: not decoded. */
    family: z.string().nullable(),
    /** What it does, such as `launch`; null: not decoded. */
    kind: z.string().nullable(),
  })).readonly(),
});

export type ListedCalls = z.infer<typeof listedCallsSchema>;
