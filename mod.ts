/**
 * What another program may import: the commands that trace, as data; the reader of recordings; and the schemas of everything that
 * `--summary json` prints.
 *
 * @module
 */
export { coldstartProfile } from "./lib/commands/coldstart.ts";
export { operatorsProfile } from "./lib/commands/operators.ts";
export { recordProfile } from "./lib/commands/record.ts";
export { gpuProfile } from "./lib/commands/gpu.ts";
export { ioProfile } from "./lib/commands/io.ts";
export { schedProfile } from "./lib/commands/sched.ts";
export { torchProfile } from "./lib/commands/torch.ts";
export { demoProfile } from "./lib/commands/demo_profile.ts";
export { profiles } from "./lib/commands/profiles.ts";
export type { Profile } from "./lib/commands/profile.ts";
export { probeCatalogue } from "./lib/commands/probe_catalogue.ts";

export { readHeader, replay } from "./lib/timeline/replay.ts";
export { RecordingFolder, type RecordingSource, type StreamSource } from "./lib/timeline/recording_source.ts";
export type { Header } from "./lib/timeline/header.ts";
export type { Timeline, TimelineOptions } from "./lib/timeline/timeline.ts";

export { summarySchema } from "./lib/analysis/summary_schema.ts";
export { coldstartResultSchema } from "./lib/analysis/coldstart_schema.ts";
export { operatorsResultSchema } from "./lib/analysis/operators_schema.ts";
export { ioSnapshotSchema, schedSnapshotSchema, snapshotSchema, totalsResultSchema } from "./lib/analysis/snapshots_schema.ts";
export { gpuResultSchema } from "./lib/analysis/gpu_schema.ts";
export { ioResultSchema } from "./lib/analysis/io_schema.ts";
export { schedResultSchema } from "./lib/analysis/sched_schema.ts";
export { torchResultSchema } from "./lib/analysis/torch_schema.ts";
export { recordResultSchema } from "./lib/commands/record_schema.ts";
export { type ReportSummary, reportSummarySchema } from "./lib/commands/report_schema.ts";
export { type DemoResult, demoResultSchema } from "./lib/commands/demo_schema.ts";
export { type ListedCalls, listedCallsSchema } from "./lib/commands/list_calls_schema.ts";
export { type DoctorSummary, doctorSummarySchema } from "./lib/commands/doctor_schema.ts";
export { SCHEMA_VERSION, type Summary } from "./lib/analysis/summary.ts";
export type { Analysis } from "./lib/analysis/analysis.ts";

export type { Event } from "./lib/events/event.ts";
export type { Span } from "./lib/events/span.ts";
export type { View } from "./lib/events/view.ts";
export type { Fact } from "./lib/events/fact.ts";
export { boottime, type Clock, type Ns, splitBase } from "./lib/events/time.ts";
export { ExitCode, LlmprofError } from "./lib/events/errors.ts";
