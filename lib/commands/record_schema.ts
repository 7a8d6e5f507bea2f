import * as z from "zod";
import { coldstartResultSchema } from "../analysis/coldstart_schema.ts";
import { gpuResultSchema } from "../analysis/gpu_schema.ts";
import { ioResultSchema } from "../analysis/io_schema.ts";
import { operatorsResultSchema } from "../analysis/operators_schema.ts";
import { schedResultSchema } from "../analysis/sched_schema.ts";

/** The answer of each layer that was asked for. */
export const recordResultSchema = z.object({
  coldstart: coldstartResultSchema.optional(),
  operators: operatorsResultSchema.optional(),
  gpu: gpuResultSchema.optional(),
  io: ioResultSchema.optional(),
  sched: schedResultSchema.optional(),
});

export type RecordResult = z.infer<typeof recordResultSchema>;
