import type { Capabilities } from "../machine/capabilities.ts";
import type { SpawnChild } from "../machine/child.ts";
import type { KernelFiles } from "../machine/files.ts";
import type { SymbolTables } from "../machine/symbol_tables.ts";
import type { Monotonic } from "./clock.ts";

/** What a session takes from the world; a test gives it another one. */
export interface Means extends Hands {
  readonly machine: Capabilities;
}

/** What can be done on any machine, before it is known which one it is. */
export interface Hands {
  readonly files: KernelFiles;
  readonly spawn: SpawnChild;
  /** For a bpftrace that reads them. */
  readonly symbols: SymbolTables;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly monotonic: Monotonic;
  /** Wall-clock milliseconds at which `monotonic` was 0, by the wall clock as it is set now: it may be set while llmprof waits. */
  readonly origin: () => number;
  /** Process id of llmprof. */
  readonly self: number;
}
