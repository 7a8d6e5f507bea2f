import * as z from "zod";

const count = z.int().nonnegative();

/** Of all samples of a run: how many, as a share, and half of the interval in which the true share lies in 95 of 100 cases. */
const shareSchema = z.object({ name: z.string(), samples: count, share: z.number(), error: z.number(), prefill: count, decode: count, other: count });

/** Where a timer found the target while it was running; in `llama_decode` of a prompt, of a generated token, and elsewhere. */
export const samplesSchema = z.object({
  /** Samples of a second of CPU time. */
  perSecond: count,
  count,
  /** By what the function works on: an operator, or a group of these that share their functions; otherwise its library. Most first. */
  works: z.array(shareSchema),
  functions: z.array(shareSchema.extend({ work: z.string(), library: z.string() })),
});

export type SamplesResult = z.infer<typeof samplesSchema>;
