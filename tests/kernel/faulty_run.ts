import assert from "node:assert/strict";
import { basename } from "node:path";
import { type Finished, mustRun, type Running, start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { errors } from "../judge/trace_processor.ts";
import { readSteadyLog, steadyCommand } from "../workloads/steady.ts";
import { Awake } from "./awake.ts";
import { outputPath } from "./live_run.ts";
import { bpftracesOf, processTable, row, until } from "./processes.ts";
import { type Decode, decodesIn } from "./trace_decodes.ts";

/** How the target comes to llmprof: it runs already, llmprof starts it, or llmprof waits for it. */
export type By = "pid" | "start" | "wait";

/**
 * Where a run is when the fault happens. `attaching`: for as long as its bpftrace is held before it begins (`heldBpftrace`). `standing`: before the
 * first instruction of a program that llmprof starts.
 */
export type Stage = "reading" | "attaching" | "standing" | "gate" | "waiting" | "counting";

export interface FaultyOptions {
  readonly bpftrace: string;
  readonly by: By;
  readonly formats?: readonly string[];
  readonly flags?: readonly string[];
  /** Where a format goes when it does not go into the run's folder. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Goes before llmprof's command line: a shell that closes something. */
  readonly under?: readonly string[];
}

/** A run over a target that goes on until the test tells it to stop, and keeps its own book. */
export interface FaultyRun extends AsyncDisposable {
  readonly folder: Temporary;
  readonly llmprof: Running;
  /** The target's number; known from the stage on at which it exists. */
  target(): number;
  /** When the target's last call ended, in nanoseconds of CLOCK_BOOTTIME. */
  now(): bigint;
  /** Until when everything that happened has to be in the files by now. */
  written(): bigint;
  /** Resolves when the run is at this stage. */
  at(stage: Stage): Promise<void>;
  bpftraces(): number[];
  /** Sends a signal as a terminal does: to llmprof and to every process that it started and left in its group. */
  typed(signal: Deno.Signal): void;
  /** Ends the target and llmprof, and looks at everything that may have been left. */
  end(expected: Expected): Promise<void>;
}

export interface Expected {
  /** How llmprof ends; one of several where signals were sent that may come in any order. */
  readonly code: number | readonly number[];
  readonly signal?: Deno.Signal;
  /** What it says on standard error: each of these. */
  readonly says?: readonly RegExp[];
  /** What its summary tells on standard output: each of these. */
  readonly tells?: readonly RegExp[];
  /** Formats that are there afterwards; all that were asked for when absent. */
  readonly files?: readonly string[];
  /** Of these, the ones that have to open and hold something, however little. */
  readonly partly?: readonly string[];
  /** Calls up to this moment, in nanoseconds of CLOCK_BOOTTIME, have to be in each file; to the end of the target or of counting when absent. */
  readonly seenUntil?: bigint;
  /** What becomes of the target: it goes on until it is told to stop, was ended by the fault, or never began. */
  readonly target?: "goes on" | "ended" | "never began";
}

/** How long it may take from an event to the file, in milliseconds of a machine that runs. */
export const LATENCY_MS = 1300;

/** Enough calls for a count that means something. */
const someCalls = 300;

export async function faultyRun({ bpftrace, by, formats = ["pftrace"], flags = [], elsewhere = {}, under = [] }: FaultyOptions): Promise<FaultyRun> {
  const folder = temporary();
  const [log, waitFile, stopFile] = [folder.file("log"), folder.file("go"), folder.file("stop")];
  const place = (format: string) => elsewhere[format] ?? outputPath(folder, format);
  const inTmp = filesInTmp();
  const awake = new Awake();
  const command = steadyCommand({ log, stopFile, ...(by === "start" && { waitFile }) });
  let started: Running | undefined;
  if (by === "pid") {
    started = start(command);
    await until("the target calls", () => callsIn(log) > 3);
  }
  const which = by === "pid" ? ["--pid", String(started!.pid)] : by === "start" ? ["--", ...command] : [];
  const outputs = formats.flatMap((format) => ["-o", place(format)]);
  // A session of its own: what a terminal sends to its foreground group reaches nobody else.
  const argv = ["setsid", ...under, ...llmprof, "coldstart", "--bpftrace", bpftrace, ...outputs, ...flags, ...which];
  const running = start(argv, { cwd: folder.path });
  let counting: bigint | undefined;
  let known: number | undefined;
  const now = () => readSteadyLog(log).calls.at(-1)!.end;
  const target = () => started?.pid ?? (known ??= launchedBy(running.pid)!);

  async function at(stage: Stage): Promise<void> {
    if (stage === "reading") return await heeded();
    if (stage === "waiting") return await running.saw("Waiting for the next");
    if (stage === "attaching") {
      await running.saw("Attaching");
      return void await until("a bpftrace is held", () => bpftracesOf(running.pid).some((pid) => row(pid)?.state === "T"));
    }
    if (stage === "standing") {
      await running.saw("Attaching");
      return void await until("the program stands", () => target() !== undefined && row(target())?.state === "T");
    }
    if (by === "wait" && !started) {
      await running.saw("Waiting for the next");
      started = start(command);
    }
    if (stage === "gate") {
      if (by === "start") {
        await running.saw("Tracing process");
        await until("the program goes on", () => row(target())?.state !== "T");
        Deno.writeTextFileSync(waitFile, "");
      }
      return void await until("the target stands at the gate", () => row(target())?.state === "T");
    }
    await running.saw("Tracing process");
    // Once llmprof is killed nobody can tell any more which its child was; for a moment that is a shell that goes on.
    await until("the program is there", () => target() !== undefined);
    Deno.writeTextFileSync(waitFile, "");
    // The library's probes count when its gate has been passed; those of a running process do already.
    if (by !== "pid") await running.saw("library mapped");
    const before = callsIn(log);
    await until("the target calls", () => callsIn(log) > before + 1);
    counting ??= now();
    await until("the target goes on calling", () => callsIn(log) >= before + someCalls);
  }

  /** From here on a Ctrl-C is a normal end; what the machine can do is being read. */
  async function heeded(): Promise<void> {
    const caught = () => BigInt(`0x${/^SigCgt:\s*(\w+)$/m.exec(Deno.readTextFileSync(`/proc/${running.pid}/status`))?.[1] ?? "0"}`);
    await until("llmprof heeds SIGINT", () => (caught() >> 1n & 1n) === 1n);
  }

  async function end(expected: Expected): Promise<void> {
    const { code, signal = null, says = [], tells = [], files = formats, partly = [], seenUntil, target: fate = "goes on" } = expected;
    const pid = fate === "never began" ? undefined : target();
    await until("llmprof ends", () => row(running.pid) === undefined);
    if (fate === "goes on") await goesOn(pid!);
    else if (pid !== undefined) await until("the target is gone", () => row(pid) === undefined);
    // Not before: a program that llmprof starts has its standard output.
    const finished = await running.finished();
    assert.deepEqual([finished.signal, finished.timedOut], [signal, false], finished.stderr);
    assert.ok([code].flat().includes(finished.code), `It ended with ${finished.code}:\n${finished.stderr}`);
    for (const said of says) assert.match(finished.stderr, said);
    for (const told of tells) assert.match(finished.stdout.replaceAll(/\s+/g, " "), told);
    assert.doesNotMatch(finished.stderr, /fault of llmprof|^ +at /m, "a sentence, and no stack");
    await nobodyLeft();
    const left = [...Deno.readDirSync(folder.path)].map(({ name }) => name).filter((name) => !["log", "go", "stop"].includes(name));
    const wanted = files.map(place).filter((path) => path.startsWith(folder.path)).map((path) => basename(path));
    assert.deepEqual(left.toSorted(), wanted.toSorted());
    // One that a test beside this one has made is gone when that ends, or is ended.
    for (const name of filesInTmp().filter((name) => !inTmp.includes(name))) {
      await until(`${name} is no stray file`, () => !filesInTmp().includes(name), 200_000);
    }
    for (const format of files) {
      if (counting !== undefined) await holds(format, finished, partly.includes(format) ? "something" : seenUntil);
      // Nothing was written into what was opened before anything counted.
      else if (format === "pftrace" && Deno.statSync(place(format)).size > 0) assert.deepEqual(await errors(place(format)), []);
    }
  }

  /** It runs, it calls, and it ends in good order with its own count when it is told to. */
  async function goesOn(pid: number): Promise<void> {
    Deno.writeTextFileSync(waitFile, "");
    // Where llmprof was killed its guard looks for three seconds.
    await until("the target is not stopped", () => row(pid)?.state !== "T" && row(pid) !== undefined, 5000);
    const before = callsIn(log);
    await until("the target goes on calling", () => callsIn(log) > before + 10);
    Deno.writeTextFileSync(stopFile, "");
    await until("the target ends", () => row(pid) === undefined);
    const { calls, done } = readSteadyLog(log);
    assert.equal(calls.length, done, "it did all its work");
    if (started) assert.equal((await started.finished()).code, 0);
  }

  /** Every process of the run works in the run's folder. */
  async function nobodyLeft(): Promise<void> {
    await until("no process is left", () => processTable().every(({ pid }) => cwdOf(pid) !== folder.path));
  }

  /** Every call that the target made in the time is in the file, once, and where it was. */
  async function holds(format: string, { stderr }: Finished, seenUntil: bigint | "something" | undefined): Promise<void> {
    let path = place(format);
    if (format === "llmprof") {
      path = folder.file("replayed.pftrace");
      await mustRun([...llmprof, "export", place(format), "-o", path]);
    }
    if (!path.includes("jsonl")) assert.deepEqual(await errors(path), [], path);
    const decodes = await decodesIn(path);
    if (seenUntil === "something") return assert.ok(decodes.length > 0, `${path}\n${stderr}`);
    const { calls } = readSteadyLog(log);
    assertSame(decodes, calls.filter(({ start, end }) => start > counting! && (seenUntil === undefined || end < seenUntil)), `${format}\n${stderr}`);
  }

  return {
    folder,
    llmprof: running,
    target,
    now,
    written: () => awake.ago(LATENCY_MS),
    at,
    end,
    bpftraces: () => bpftracesOf(running.pid),
    typed: (signal) => Deno.kill(-running.pid, signal),
    async [Symbol.asyncDispose]() {
      // First what llmprof started: it has llmprof's standard output, whose end is waited for.
      if (known !== undefined && row(known)?.name === "steady") Deno.kill(known, "SIGKILL");
      await running[Symbol.asyncDispose]();
      await started?.[Symbol.asyncDispose]();
      await awake[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

export function assertSame(decodes: readonly Decode[], calls: readonly Decode[], what: string): void {
  assert.ok(calls.length > 0, "there was something to see");
  const among = decodes.filter(({ start }) => start >= calls[0]!.start);
  const wrong = calls.findIndex((call, i) => !among[i] || among[i].start < call.start || among[i].end > call.end);
  const shown = [calls[wrong], among[wrong]].map((one) => one && `${one.start}+${one.end - one.start}`).join(" in the log, in the trace ");
  assert.equal(wrong, -1, `${shown}: call ${wrong} of ${calls.length} is not where it was; there are ${among.length} in ${what}`);
}

/** The program that llmprof has started: its child that became `steady`, or the shell that will. */
function launchedBy(llmprof: number): number | undefined {
  const children = processTable().filter(({ parent }) => parent === llmprof);
  return (children.find(({ name }) => name === "steady") ?? children.find(({ name, state }) => /^(ba)?sh$/.test(name) && state === "T"))?.pid;
}

export function callsIn(log: string): number {
  try {
    return Deno.readTextFileSync(log).split("\n").length - 1;
  } catch {
    return 0;
  }
}

function cwdOf(pid: number): string | undefined {
  try {
    return Deno.readLinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** What llmprof or bpftrace might leave there; other tests have folders of their own. */
export function filesInTmp(): string[] {
  return ["/tmp", "/dev/shm", "/run"].flatMap((folder) => [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`))
    .filter((path) => /\/(?!llmprof-test-)[^/]*(bpftrace|llmprof)[^/]*$/.test(path));
}
