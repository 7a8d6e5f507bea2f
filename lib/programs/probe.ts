import type { Decoder, Field } from "../events/event.ts";
import type { Knowledge } from "../events/fact.ts";
import type { Tracks } from "../events/tracks.ts";
import type { NameTest, Wanted } from "../target/symbols.ts";
import type { Detail } from "./detail.ts";

/**
 * What a parameter of a template may hold. A template writes `{{name}}`; the renderer escapes by type, so a value can never change the
 * program. `site` stands where bpftrace expects attach points: `{{decode}} /FILTER/ { … }`.
 */
export type Param =
  | { readonly type: "int"; readonly value: number }
  /** A quoted string literal. */
  | { readonly type: "text"; readonly value: string }
  /** Whether a text of the template begins with one of these. */
  | { readonly type: "begins"; readonly text: string; readonly with: readonly string[] }
  /** An expression that depends on the calling convention. Our own text, never a user's. */
  | { readonly type: "arch"; readonly x86_64: string; readonly aarch64: string }
  /**
   * One or several functions (or, at `usdt`, markers `provider:name` that whoever wrote the library has set), each by its names in the versions of the library, newest first: the first name that exists is attached. Or all whose
   * names a test accepts. A block whose site names no existing function is left out of the program. `beside`: not in the probe's own library but in those whose file names
   * begin so, which the process has mapped as well. `internal`: such a library keeps them to itself; one that was stripped has lost their names.
   * `together`: many functions, which have one attach point by a pattern of that name: for each attach point bpftrace reads all symbols of the
   * library, and of some there are half a million.
   * `part`: only where the library is a part of another file: its callers there, compiled together with it, may call what it would not show.
   * `with`: only where it has all of these functions, too.
   */
  | {
    readonly type: "site";
    readonly at: "entry" | "return" | "usdt";
    readonly functions: readonly (readonly string[] | NameTest)[];
    readonly beside?: string;
    readonly internal?: true;
    readonly together?: string;
    readonly part?: true;
    readonly with?: readonly string[];
    /** Those that matter most, for a bpftrace to which each place costs a system call, and of a library that has a great many. */
    readonly fewer?: NameTest;
  }
  /** The process id of the bpftrace that runs the program. */
  | { readonly type: "self" }
  /** An attach point: a raw tracepoint where this bpftrace knows them, which no other program that runs on the processor keeps from running. */
  | { readonly type: "tracepoint"; readonly raw: string; readonly name: string }
  /** An expression for either of these. */
  | { readonly type: "at"; readonly raw: string; readonly tracepoint: string }
  /** What it is where the kernel's tracepoint has that field, `category:name.field`, and where it has not. */
  | { readonly type: "field"; readonly field: string; readonly is: string; readonly without: string }
  /** What follows from the bytes of a page of memory. */
  | { readonly type: "page"; readonly value: (bytes: number) => string }
  /** 1 where the site of that name has a function to sit on, otherwise 0. */
  | { readonly type: "exists"; readonly site: string }
  /**
   * A distance in a structure of the library that versions lay out differently: by what `getter` of it, or of those beside it whose file names begin so,
   * adds to its argument for what it returns. Where the code does not say that, it is as for `usual`. A text says why a version's cannot be used.
   */
  | {
    readonly type: "offset";
    readonly getter: string;
    readonly beside: string;
    readonly at: (offset: number) => number | string;
    readonly usual: number;
  };

export type SiteParam = Extract<Param, { type: "site" }>;
export type OffsetParam = Extract<Param, { type: "offset" }>;

/** A function, of the library with this prefix, by its names in the versions of that, newest first. */
export interface ReadyCall {
  readonly prefix: string;
  readonly call: readonly string[];
}

/** Functions: each of these, and of several in brackets, which are one by its names in the versions of the library, any. */
export type Needed = readonly (string | readonly string[])[];

/** Libraries by the beginning of their file name, such as `libggml-cpu`. */
export interface LibraryNeed {
  readonly prefix: string;
  /** How the names of files begin that older versions have instead. */
  readonly formerly?: string;
  /** What must be there, or the probe cannot work with this library. */
  readonly symbols: Needed;
  /**
   * When a library that is not mapped yet is waited for: `mapped`: the process stands still as soon as it maps the file; otherwise the
   * function (of the library with this prefix) at whose call the choice between several variants has been made. `announced`: a record that
   * comes some time before that call, when it has been made as a rule: attaching begins then, and the stop is shorter. `otherwise`: such a call of
   * processes that have not mapped the library with that prefix.
   */
  readonly ready: "mapped" | ReadyCall & { readonly announced?: string; readonly otherwise?: ReadyCall };
  /** A process that has mapped one with this prefix computes without it. */
  readonly dispensable?: string;
  /** A process that has mapped one with this prefix calls the library past its functions, by tables of their addresses. */
  readonly bypassed?: string;
  /** It is a file of its own, never a part of a program. It takes seconds to attach to, or is seldom there: nothing is made ready before it appears. */
  readonly apart?: true;
  /**
   * It may also be linked into a library of any name. `kept`: which keeps its functions to itself, so that its long table tells, and there may be a file of
   * this name besides. `alone`: where there is none, and the program has it not.
   */
  readonly inside?: "kept" | "alone";
  /**
   * Whoever maps it is looked at, now or later, and a target that never does lacks nothing. Each process, not only the first: a decoder may know functions
   * by their addresses.
   */
  readonly each?: true;
  /** Its functions are left by exceptions, which a probe at their return must not hold up. */
  readonly throws?: true;
  /** Symbol of a table of strings in one of the libraries beside it, read once and handed to the decoder as a fact. */
  readonly table?: string;
}

/** A map of sums. */
export interface MapShape {
  /** What the numbers of a row's key are. `pid`, which comes first: the process that the row is of; 0 where it is of several. */
  readonly key: readonly string[];
  readonly unit: string;
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
  /** bpftrace with the constructs of template.ts. Blocks on tracepoints, and hardware counters, that are not here are left out. */
  readonly template: string;
  readonly params?: Readonly<Record<string, Param>>;
  /** Where the uprobes of the template are; absent for a probe on tracepoints alone. */
  readonly library?: LibraryNeed;
  /** It is for processes that have mapped a library of such a name, besides its own. */
  readonly given?: RegExp;
  /** Tracepoints without which the probe makes no sense (others are optional). */
  readonly tracepoints?: readonly string[];
  /** A tracepoint without which it sees less, and what is not seen then. */
  readonly fuller?: { readonly tracepoint: string; readonly summary: string };
  /** Hardware counters without which it makes no sense, by bpftrace's names (others are optional). */
  readonly counters?: readonly string[];
  /** Calls a helper that bpftrace allows only with `--unsafe` (`signal`). */
  readonly unsafe?: boolean;
  /** Its programs leave no room on their stack: what stands on top of others has a bpftrace of its own beside it (see ON_STACK in render.ts). */
  readonly deep?: true;
  /** Hit hundreds of times a second or more: what it costs depends on how its records leave the kernel. Nobody keeps an event of it (spare_events.ts). */
  readonly hot?: boolean;
  /** Hit several times for each token: where a hot one is beside it in a program, its records of few numbers leave the kernel as that one's do. */
  readonly perToken?: true;
  /** Its maps are read when it says so, and not when their reader goes on. */
  readonly prompt?: true;
  /** Numbers of its longest record that is so frequent, hot or told for each token, where that has many. */
  readonly widest?: number;
  /** Hits of one of its sites for each operator that a worker computes: what it will cost is known from the graph, before it is placed. */
  readonly perOperator?: { readonly site: string; readonly hits: number };
  /** Sites by how their names begin: all of these together have as many hits as there are of these records, and nobody knows which has how many. */
  readonly share?: Readonly<Record<string, readonly string[]>>;
  /** What to type instead where it cannot be placed. */
  readonly instead?: string;
  /** Of a timer: hits in a second of CPU time, whatever the target does. */
  readonly perSecond?: number;
  /** Seen only where the option of this name asks for it. */
  readonly asked?: "syscalls" | "between" | "sampleEvery" | "shapes" | "stacks" | "everyCall" | "interval";
  /** The same probe told once in so many events: the number that its option has. */
  readonly every?: (events: number) => Probe;
  /** It is a part of these details alone; absent: of each. */
  readonly details?: readonly Detail[];
  /**
   * Scalar maps that are not 0 only while the window is open, for a probe that is too hot to look at `@w` and the tree each time: they are set to 0 as
   * it closes. Who sets one looks at `FILTER` again behind that.
   */
  readonly whileOpen?: readonly string[];
  /** Statements for the moment at which the window is shut, before it is; where this bpftrace can walk through a map. */
  readonly atClose?: string;
  /** The same behind that moment, for what no program touches any more that looks at `@w`. */
  readonly afterClose?: string;
  /** Record name → its fields after time, process and thread. */
  readonly records: Readonly<Record<string, readonly Field[]>>;
  /**
   * Texts of the records that are no file's name, as `record.field`: `model`: it tells of the model, and `--redact` keeps it; `name`: what a
   * process or thread calls itself.
   */
  readonly texts?: Readonly<Record<string, "model" | "name">>;
  /** Maps printed with every heartbeat, by their name without `@`. */
  readonly maps?: Readonly<Record<string, MapShape>>;
  /** Maps that are printed when the window is shut: what a hit adds to one of these, no record tells. */
  readonly sums?: Readonly<Record<string, MapShape>>;
  /** Records of other probes that the decoder wants to see, such as `files/access.map`. */
  readonly sees?: readonly string[];
  /** What the decoder has to know besides its own records. */
  readonly facts?: readonly Knowledge["fact"][];
  /** Exported functions of its library that its decoder wants to know by their addresses; absent: all that it has. */
  readonly names?: Wanted;
  /** `told`: fields of its records as the first stream that carries them describes them, which may be that of an older recording. */
  decoder(tracks: Tracks, told?: (record: string) => readonly Field[] | undefined): Decoder;
}

/** Its programs run on top of others: it stands at raw tracepoints, where those are known. */
export function standsOnTop({ params = {} }: Probe): boolean {
  return Object.values(params).some(({ type }) => type === "tracepoint");
}

/** It has probes at the return of functions. */
export function standsAtReturn({ params = {} }: Probe): boolean {
  return Object.values(params).some((param) => param.type === "site" && param.at === "return");
}
