import type { Affinity, DiskUse, GpuReading, Limits, MemoryUse, Pressure, StolenTime } from "./surroundings.ts";

/** A tensor, or all of a module (`layers.3.mlp.experts.*`) where there are too many, and where in its file it begins. */
export interface StoredTensor {
  readonly name: string;
  readonly offset: number;
}

/** What an address in the code of a process stands for. */
export interface Place {
  readonly at: number;
  /** Without its folders; empty for code that is in none. */
  readonly file: string;
  /** Function, where one is known there. */
  readonly name: string | null;
  /** In the file. */
  readonly offset: number;
}

/** What infers in the target, with what, and on what it may run. Null: it could not be found out. */
export interface EngineFound {
  readonly engine: string | null;
  readonly version: string | null;
  /** Name of the file, without its folders. */
  readonly model: string | null;
  readonly quantisation: string | null;
  /** Of the process, when it was looked at. */
  readonly threads: number | null;
  /** Processors on which it may run: `0-3,8`. */
  readonly affinity: string | null;
}

/**
 * What llmprof itself read or did and what reaches the trace: the `host` stream carries these, so that a replay never reads the machine.
 */
export type Fact =
  /** A program is attached: its stream, what it is attached to, and how dear a hit is. */
  | {
    readonly fact: "program";
    readonly stream: string;
    readonly sites: readonly {
      readonly probe: string;
      readonly site: string;
      readonly cost: string;
      /** What a hit sends, or of what there are as many; empty where most hits send nothing. */
      readonly records: readonly string[];
      /** How many sites send the same records, so that their hits cannot be told apart; absent: this one alone. */
      readonly among?: number;
      /** Where the records tell in which function a hit was: the functions of the site, by cost. */
      readonly functions?: Readonly<Record<string, readonly string[]>>;
      /** Of a site whose hits send nothing: how many of them there are for each operator. */
      readonly perOperator?: number;
    }[];
  }
  /** The strings of a table in a library, in order: `GGML_OP_NAME`. It holds for that stream; without one, for each that has no other. */
  | { readonly fact: "table"; readonly stream?: string; readonly symbol: string; readonly file: string; readonly names: readonly string[] }
  /** Where the code of a process was when probes were attached to it, by address: its files, and functions of the library that is looked at. */
  | {
    readonly fact: "code";
    readonly pid: number;
    /** Which library's functions; absent where there is but one that is looked at. */
    readonly of?: string;
    /** `file`: without its folders; empty for code that is in none. */
    readonly ranges: readonly { readonly at: number; readonly bytes: number; readonly file: string }[];
    readonly functions: readonly { readonly at: number; readonly bytes: number; readonly name: string }[];
  }
  /** Addresses on stacks of a process that are code and, but for the innermost, stand behind a call. */
  | { readonly fact: "places"; readonly pid: number; readonly places: readonly Place[] }
  /** Files that a process had mapped before anything was counted, or soon after it began another program. */
  | {
    readonly fact: "mapped";
    readonly pid: number;
    readonly files: readonly {
      readonly at: number;
      readonly bytes: number;
      readonly offset: number;
      readonly dev: number;
      readonly inode: number;
      readonly file: string;
      readonly isCode?: boolean;
    }[];
  }
  /** Files that a process had open before anything was counted. */
  | {
    readonly fact: "opened";
    readonly pid: number;
    readonly files: readonly { readonly dev: number; readonly inode: number; readonly file: string }[];
  }
  /** What a process and its other threads call themselves. */
  | {
    readonly fact: "names";
    readonly pid: number;
    readonly name: string;
    readonly threads: readonly { readonly tid: number; readonly name: string }[];
  }
  /** Tensors in a model's file, in the order of their offsets. */
  | { readonly fact: "tensors"; readonly dev: number; readonly inode: number; readonly tensors: readonly StoredTensor[] }
  /** Events for which bpftrace's buffer had no room, told when it reports them. */
  | { readonly fact: "lost"; readonly stream: string; readonly count: number }
  /** Hits that the kernel skipped because another program ran on that CPU (`recursion_misses`): they are lost too. */
  | { readonly fact: "skipped"; readonly stream: string; readonly count: number }
  /** Events of other processes, read while llmprof waited for a target and not kept. */
  | { readonly fact: "discarded"; readonly stream: string; readonly count: number }
  /** A life of the target is over, or a turn of watching it, and the run goes on: what is open stays so. */
  | { readonly fact: "ended"; readonly pid: number }
  /** The target that we started has ended. */
  | { readonly fact: "exit"; readonly pid: number; readonly code: number; readonly signal: string | null }
  | { readonly fact: "engine" } & EngineFound
  /** CPU time of tracing itself, in seconds. */
  | { readonly fact: "cpu"; readonly bpftrace: number; readonly llmprof: number }
  /**
   * CPU time of the target with tracing over without, less 1: predicted from the hits and what one costs, and measured where the target was
   * seen without these probes. Null: not known. `unpriced`: layers that are not in what is predicted.
   * `details`: what was predicted before anything was attached, of each detail that could be chosen.
   */
  | {
    readonly fact: "overhead";
    readonly predicted: number | null;
    readonly measured: number | null;
    readonly calibrated: boolean;
    readonly unpriced?: readonly string[];
    readonly details?: Readonly<Record<string, number | null>>;
  }
  /**
   * What the kernel says of pressure now, on the machine and in the control group of the target, where that is one of version 2. `moves`: how often it was
   * put into another one before. `stolen`: where a hypervisor ever took any.
   */
  | { readonly fact: "pressure"; readonly pressure: Pressure; readonly stolen?: StolenTime; readonly group?: Pressure; readonly moves?: number }
  /** What disks have to do now. */
  | { readonly fact: "disks"; readonly disks: readonly DiskUse[] }
  /** What GPUs say of themselves now. */
  | { readonly fact: "gpus"; readonly gpus: readonly GpuReading[] }
  /** On which processors the target may run now. */
  | { readonly fact: "affinity" } & Affinity
  /** What memory is used for now. */
  | { readonly fact: "memory"; readonly memory: MemoryUse }
  /** What control groups allow the target: when it is first looked at, of both where it is put into others (`moves`: so often before), and at the end. */
  | { readonly fact: "limits"; readonly pid: number; readonly limits: Limits; readonly moves?: number }
  /** The wall clock has been set: it says so many milliseconds more than when the run's clock was read. */
  | { readonly fact: "wallClock"; readonly shiftMs: number }
  /** Threads of llmprof and of its bpftraces, those that were found before among them. */
  | { readonly fact: "tracers"; readonly threads: readonly number[] }
  /** Something that a reader of the trace must know. `files`, `names`: what is called so in it, files and processes, may be anybody's own. */
  | { readonly fact: "note"; readonly text: string; readonly files?: readonly string[]; readonly names?: readonly string[] };

export type CodeFact = Extract<Fact, { fact: "code" }>;
export type ProgramFact = Extract<Fact, { fact: "program" }>;

/** What decoders have to know of the target besides its events. */
export type Knowledge =
  | CodeFact
  | Extract<
    Fact,
    {
      fact:
        | "table"
        | "pressure"
        | "memory"
        | "limits"
        | "affinity"
        | "mapped"
        | "opened"
        | "names"
        | "tensors"
        | "places"
        | "gpus"
        | "disks"
        | "wallClock"
        | "tracers";
    }
  >;

/** What a piece of knowledge is about: the last that was told of it is true. Null for a fact that no decoder needs. */
export function subjectOf(fact: Fact): string | null {
  switch (fact.fact) {
    case "pressure":
    case "memory":
    case "gpus":
    case "disks":
    case "wallClock":
    case "tracers":
      return fact.fact;
    case "table":
      return `table ${fact.symbol} ${fact.stream ?? ""}`;
    case "code":
      return `code ${fact.pid} ${fact.of ?? ""}`;
    case "limits":
    case "affinity":
    case "mapped":
    case "opened":
    case "names":
      return `${fact.fact} ${fact.pid}`;
    case "places":
      // One after another, each of other addresses.
      return `places ${fact.pid} ${fact.places[0]?.at}`;
    case "tensors":
      return `tensors ${fact.dev}:${fact.inode}`;
    default:
      return null;
  }
}
