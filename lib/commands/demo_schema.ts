import * as z from "zod";
import { coldstartResultSchema } from "../analysis/coldstart_schema.ts";
import { operatorsResultSchema } from "../analysis/operators_schema.ts";

/** What both commands find in one run. */
export const demoResultSchema = z.object({ coldstart: coldstartResultSchema, operators: operatorsResultSchema });

export type DemoResult = z.infer<typeof demoResultSchema>;
