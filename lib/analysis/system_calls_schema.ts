import * as z from "zod";

const count = z.int().nonnegative();
/** Nanoseconds from entering to leaving the kernel, waiting included. */
const totalNs = z.number();

/** System calls that began and returned while llmprof watched, most time first. */
export const systemCallsSchema = z.object({
  calls: count,
  totalNs,
  names: z.array(z.object({ name: z.string(), calls: count, totalNs, threads: count })),
  /** The first 64 that made one; `tid` 0: all others together; `name`: empty where it was not told. */
  threads: z.array(
    z.object({
      pid: count,
      tid: count,
      name: z.string(),
      calls: count,
      totalNs,
      names: z.array(z.object({ name: z.string(), calls: count, totalNs })),
    }),
  ),
});

export type SystemCallsResult = z.infer<typeof systemCallsSchema>;
