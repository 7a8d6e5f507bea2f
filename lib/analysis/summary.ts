import type * as z from "zod";
import type { summarySchema } from "./summary_schema.ts";

/** Grows when a field is taken away or changes its meaning; fields may be added without. */
export const SCHEMA_VERSION = 1;

/** What `--summary json` prints: the envelope around a command's result. */
export type Summary<Result> = Omit<z.infer<ReturnType<typeof summarySchema<z.ZodUnknown>>>, "result"> & { readonly result: Result };
