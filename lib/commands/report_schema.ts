import * as z from "zod";
import { reportResultSchema } from "../analysis/report_schema.ts";

/** What `report --summary json` prints. */
export const reportSummarySchema = z.object({ schemaVersion: z.literal(1), command: z.literal("report"), result: reportResultSchema });

export type ReportSummary = z.infer<typeof reportSummarySchema>;
