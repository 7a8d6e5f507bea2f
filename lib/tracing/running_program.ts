import { ExitCode, LlmprofError } from "../events/errors.ts";
import { type Child, type ChildEnd, plainEnvironment, type SpawnChild, untimely } from "../machine/child.ts";
import { allowMoreFiles } from "../machine/needs/shell.ts";
import { SELF } from "../programs/prologue.ts";
import type { Program } from "../programs/render.ts";
import { type ClockReading, parseClockLine } from "./clock_line.ts";
import { invocation, type InvocationOptions } from "./command_line.ts";
import { EscapedTexts } from "./escaped_texts.ts";
import { readBlocks } from "./read_blocks.ts";

export interface ProcessOptions extends InvocationOptions {
  readonly bpftrace: string;
}

/**
 * Starts a bpftrace that waits for its program on standard input. It dies with llmprof (parent-death signal), and has a session of its own, so
 * that a Ctrl-C at the terminal ends it only when llmprof says so.
 */
export function startBpftrace(options: ProcessOptions, spawn: SpawnChild): Child {
  const { env, args } = invocation(options);
  const streams = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
  return spawn({ program: options.bpftrace, args, env: { ...plainEnvironment, ...env }, parentDeath: true, newSession: true, ...streams });
}

export interface ProgramEnd extends ChildEnd {
  /** What it complained about, without what old versions always say; empty when nothing. */
  readonly said: string;
}

/** A bpftrace with its program. The bytes that it prints are handed on as they come; they are valid during the call alone. */
export class RunningProgram {
  readonly pid: number;
  /** Every probe is attached. Rejects with what bpftrace complained about when it ends before. */
  readonly ready: Promise<ClockReading>;
  /** The last byte has been handed on and the process is gone. */
  readonly ended: Promise<ProgramEnd>;
  /** It has reported that a map had no room for one row more, as it does from 0.24 on. */
  readonly full: Promise<void>;
  /** Its reader stands still, because llmprof has stopped it. */
  isPaused = false;
  readonly #child: Child;
  readonly #full = Promise.withResolvers<void>();
  #stderr = "";
  /** Lines of standard error that belong to the stream and have not been handed on. */
  #reports = "";
  #atLineStart = true;

  constructor(readonly program: Program, child: Child, readonly onBytes: (bytes: Uint8Array) => void) {
    this.#child = child;
    this.pid = child.pid;
    this.full = this.#full.promise;
    void feed(child.stdin!, program.text.replaceAll(SELF, String(child.pid)));
    const errors = this.#readErrors();
    let seen = "";
    const { promise, resolve, reject } = Promise.withResolvers<ClockReading>();
    this.ready = promise;
    // Somebody may be waiting for another program when this one fails.
    this.ready.catch(() => {});
    let isReady = false;
    const texts = program.escapes ? new EscapedTexts(program.schema) : null;
    const output = (async () => {
      await readBlocks(child.stdout!, (bytes) => {
        if (!isReady) {
          seen += new TextDecoder().decode(bytes);
          const lines = seen.split("\n");
          const clock = lines.map(parseClockLine).find((c) => c !== null);
          if (clock && lines.slice(0, -1).includes("ready")) {
            isReady = true;
            resolve(clock);
          }
        }
        this.#hand(texts ? texts.lines(bytes) : bytes);
      });
      if (texts) this.#hand(texts.end());
    })();
    this.ended = Promise.all([child.status, output, errors]).then(([{ code, signal }]) => {
      if (!isReady) reject(couldNotAttach(program, this.#stderr + seen, { code, signal }));
      return { code, signal, said: complaints(this.#stderr) };
    });
  }

  /** Counting begins and ends at one instant for all probes of the program: see prologue.ts. */
  openWindow(): void {
    this.#child.kill("SIGWINCH");
  }

  closeWindow(): void {
    this.#child.kill("SIGURG");
  }

  pause(): void {
    this.isPaused = true;
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.isPaused = false;
    this.#child.kill("SIGCONT");
  }

  /** Ends it. Detaching takes the kernel a tenth of a second for each uprobe: nobody should have to wait for `ended`. */
  stop(): void {
    this.#child.kill("SIGCONT");
    this.#child.kill("SIGINT");
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** From 0.24 on bpftrace reports a full buffer here; the report belongs to the stream. */
  async #readErrors(): Promise<void> {
    const decoder = new TextDecoder();
    let unfinished = "";
    for await (const bytes of this.#child.stderr!) {
      const text = decoder.decode(bytes, { stream: true });
      this.#stderr = (this.#stderr + text).slice(-64 * 1024);
      const lines = (unfinished + text).split("\n");
      unfinished = lines.pop()!;
      for (const line of lines) {
        if (/^Lost \d+ events$/.test(line)) this.#reports += `${line}\n`;
        if (/\bMap full\b/.test(line)) this.#full.resolve();
      }
      if (this.#atLineStart) this.#handReports();
    }
  }

  /** A report from standard error waits for the end of the line that standard output is in the middle of. */
  #hand(bytes: Uint8Array): void {
    const end = bytes.lastIndexOf(10) + 1;
    if (this.#reports === "" || end === 0) {
      this.onBytes(bytes);
    } else {
      this.onBytes(bytes.subarray(0, end));
      this.#handReports();
      if (end < bytes.length) this.onBytes(bytes.subarray(end));
    }
    this.#atLineStart = end === bytes.length;
  }

  #handReports(): void {
    if (this.#reports !== "") this.onBytes(new TextEncoder().encode(this.#reports));
    this.#reports = "";
  }
}

async function feed(stdin: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    // It ended before it had read its program: `ready` says why.
  }
}

/** Lines that old versions print in every run. */
const HARMLESS = /RLIMIT_MEMLOCK|^\s*$|Attaching \d+ probe|available_filter_functions/;

/** What the kernel answered, which old versions say in a line before the error: `ioctl(PERF_EVENT_IOC_SET_BPF): Argument list too long`. */
const ANSWER = /^\w+\(.*\): /;
const KNOWN = [
  {
    said: /SET_BPF\): Argument list too long/,
    exitCode: ExitCode.failed,
    next: "The kernel runs 64 programs at a tracepoint, and others have theirs there. End one of those that trace: bpftool perf",
  },
  { said: /Too many open files/, exitCode: ExitCode.machine, next: allowMoreFiles },
] as const;
const UNKNOWN = {
  exitCode: ExitCode.failed,
  next: "See what this machine lacks: llmprof doctor; see the program: the same command with --dry-run",
} as const;

/** From the first error on; where nothing is called one, all of it: four lines. */
function complaints(output: string): string {
  const lines = output.split("\n").filter((line) => !HARMLESS.test(line) && !/^3 \d|^\([89], |^@/.test(line));
  const error = Math.max(lines.findIndex((line) => /\b(ERROR|FATAL)\b/.test(line)), 0);
  const first = ANSWER.test(lines[error - 1] ?? "") ? error - 1 : error;
  return lines.slice(first, first + 4).join(" ").trim();
}

function couldNotAttach(program: Program, output: string, end: ChildEnd): LlmprofError {
  const said = complaints(output);
  const { exitCode, next } = KNOWN.find((known) => known.said.test(said)) ?? UNKNOWN;
  return new LlmprofError(
    exitCode,
    `bpftrace could not attach the program '${program.schema.stream}'.`,
    said ? `It said: ${said}` : untimely(end),
    next,
  );
}
