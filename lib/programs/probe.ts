import type { Decoder, Field } from "../events/event.ts";
import type { Tracks } from "../events/tracks.ts";

/**
 * What a parameter of a template may hold. A template writes `{{name}}`; the renderer escapes by type, so a value can never change the
 * program. `site` stands where bpftrace expects attach points: `{{decode}} /FILTER/ { … }`.
 */
export type Param =
  | { readonly type: "int"; readonly value: number }
  /** A quoted string literal. */
  | { readonly type: "text"; readonly value: string }
  /** One or several functions; a block whose site names no existing function is left out of the program. */
  | { readonly type: "site"; readonly at: "entry" | "return"; readonly symbols: readonly string[] };

/** Libraries by the beginning of their file name, such as `libggml-cpu`. */
export interface LibraryNeed {
  readonly prefix: string;
  /** One of these functions must be there, or the probe cannot work with this library. */
  readonly symbols: readonly string[];
}

/**
 * One question to the kernel or to a library, as data: `<name>.bt` with `<name>.ts` beside it. Flags, preflight, rendering and parser
 * follow from it.
 */
export interface Probe {
  /** Folder and file: `ggml/ops`. */
  readonly name: string;
  /** One line for `--dry-run` and `doctor`. */
  readonly summary: string;
  /** bpftrace with `{{name}}`, `FILTER` and `EMIT(record, expression…)`. Blocks on tracepoints that this kernel lacks are left out. */
  readonly template: string;
  readonly params?: Readonly<Record<string, Param>>;
  /** Where the uprobes of the template are; absent for a probe on tracepoints alone. */
  readonly library?: LibraryNeed;
  /** Tracepoints without which the probe makes no sense (others are optional). */
  readonly tracepoints?: readonly string[];
  /** Calls a helper that bpftrace allows only with `--unsafe` (`signal`). */
  readonly unsafe?: boolean;
  /** Record name → its fields after time, pid and tid. */
  readonly records: Readonly<Record<string, readonly Field[]>>;
  /** Maps printed with every heartbeat: map name without `@` → unit. */
  readonly maps?: Readonly<Record<string, string>>;
  decoder(tracks: Tracks): Decoder;
}
