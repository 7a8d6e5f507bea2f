import type { SnapshotsOptions } from "../../exporters/snapshots.ts";
import type { NamedOutput } from "./outputs.ts";

/** Files that have an option of their own. */
export interface NamedOutputOptions {
  /** A line for each interval. */
  readonly snapshots?: SnapshotsOptions & { readonly path: string };
  /** A line for each CUDA call. */
  readonly cudaJsonl?: string;
}

const opensWith = "jq, or anything that reads lines of JSON";

export function namedOutputs({ snapshots, cudaJsonl }: NamedOutputOptions): NamedOutput[] {
  const named: NamedOutput[] = [];
  if (snapshots) {
    const load = async () => (await import("../../exporters/snapshots.ts")).openSnapshots(snapshots);
    named.push({ option: "--snapshots FILE", path: snapshots.path, format: "snapshots", opensWith, load, adds: true });
  }
  if (cudaJsonl !== undefined) {
    const load = async () => (await import("../../exporters/cuda_jsonl.ts")).openCudaJsonl;
    named.push({ option: "--cuda-jsonl FILE", path: cudaJsonl, format: "cuda-jsonl", opensWith, load });
  }
  return named;
}
