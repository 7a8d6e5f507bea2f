import { type Bpftrace, probeBpftrace } from "./bpftrace.ts";
import { Cache, type CacheKey, type CachePlace } from "./cache.ts";

export interface Knowing {
  /** What was found out holds for it. */
  readonly key: CacheKey;
  /** `refresh`: what is remembered is not believed, and replaced. */
  readonly remember: "use" | "refresh";
  /** Whether this process may try what the kernel can do: without CAP_SYS_ADMIN a bpftrace takes for absent what it may not use. */
  readonly mayTry: Promise<boolean>;
  readonly place?: CachePlace;
}

/** What a bpftrace is, as {@link probeBpftrace} finds out with four children in 0.4 s, and once for each file and boot. */
export async function knownBpftrace(path: string, knowing: Knowing, probe = probeBpftrace): Promise<Bpftrace | null> {
  const cache = new Cache(knowing.key, knowing.place);
  const kept = knowing.remember === "use" ? asBpftrace(cache.read(KIND), path) : null;
  if (kept) return kept;
  const found = await probe(path);
  // Only root gets an answer, and only root may write here. What failed for want of room or rights may not fail tomorrow.
  if (found?.isWhole && found.bpftrace.features.symbols && await knowing.mayTry) cache.write(KIND, found.bpftrace);
  return found?.bpftrace ?? null;
}

const KIND = "features";

/** Of what was kept, perhaps by another llmprof, only what has every field. */
function asBpftrace(kept: unknown, path: string): Bpftrace | null {
  const { version, text, features } = (kept ?? {}) as Partial<Bpftrace>;
  const isVersion = Array.isArray(version) && version.length === 3 && version.every(Number.isSafeInteger);
  const names = ["symbols", "patterns", "offsets", "ringbuf", "uprobeMulti", "perCpuLookup", "traceableList"] as const;
  if (!isVersion || typeof text !== "string" || !names.every((name) => typeof features?.[name] === "boolean")) return null;
  const { symbols, patterns, offsets, ringbuf, uprobeMulti, perCpuLookup, traceableList } = features!;
  return { path, version, text, features: { symbols, patterns, offsets, ringbuf, uprobeMulti, perCpuLookup, traceableList } };
}
