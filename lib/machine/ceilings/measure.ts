import { ExitCode, LlmprofError } from "../../events/errors.ts";
import { type Child, type SpawnChild, untimely } from "../child.ts";
import type { KernelFiles } from "../files.ts";
import { firstProcessors, processorNumbers, readOnline } from "../processors.ts";
import { runnableFolder } from "../runnable_folder.ts";
import { type Caches, reached, readCaches } from "./caches.ts";
import type { Ceilings } from "./ceilings.ts";
import { ceilingsProgram, operations, order, type Task } from "./program.ts";

/** What is measured with. */
export interface MeasuringMeans {
  readonly files: KernelFiles;
  readonly spawn: SpawnChild;
  readonly machine: { readonly arch: string; readonly cpus: number; readonly memoryBytes: number };
}

/** Work of one thread in one trial, some tens of milliseconds; the best of the trials is the ceiling. */
const READ_BYTES = 1 << 30, ROUNDS = 4_000_000, TRIALS = 3;
const PAGE = 4096, MIB = 1 << 20;
/** Where the kernel does not say how large the last-level cache is. */
const USUAL_CACHE = 32 * MIB;
/** Enough for all threads together, however large the caches are said to be. */
const MOST_MEMORY = 4 * 1024 * MIB;

/**
 * Measures them for 1, 2, 4 … and as many threads as there are CPUs, in about a second for each: a small program of our own reads memory and multiplies,
 * in so many processes at once. Null on a processor for which there is no such program, and when `stop` resolves before it is done.
 */
export async function measureCeilings(means: MeasuringMeans, stop: Promise<unknown>): Promise<Ceilings[] | null> {
  const { arch, cpus } = means.machine;
  if (arch !== "x86_64") return null;
  const [cpuinfo] = await means.files.texts(["/proc/cpuinfo"]);
  const flags = new Set(/^flags\s*:\s*(.*)$/m.exec(cpuinfo ?? "")?.[1]?.split(" "));
  const { second, third } = await readCaches(means.files, processorNumbers(await readOnline(means.files)) ?? firstProcessors(cpus));
  const caches = { second, third: third.length > 0 ? third : [USUAL_CACHE] };
  let isOver = false;
  void stop.then(() => isOver = true);
  await using folder = await runnableFolder(means.files, "ceilings");
  const program = `${folder.path}/llmprof-ceilings`;
  Deno.writeFileSync(program, ceilingsProgram(), { createNew: true, mode: 0o700 });
  const measured: Ceilings[] = [];
  for (const threads of threadCounts(cpus)) {
    if (isOver) return null;
    measured.push(await ceilingsOf(threads, { means, program, flags, caches }));
  }
  return measured;
}

/** 1, 2, 4 … and all. */
export function threadCounts(cpus: number): number[] {
  const counts: number[] = [];
  for (let threads = 1; threads < cpus; threads *= 2) counts.push(threads);
  return [...counts, cpus];
}

/** The widest instructions of each kind. */
export function tasksFor(flags: ReadonlySet<string>): { readonly read: Task; readonly flops: Task; readonly bytes: Task; readonly bf16: Task } {
  const avx512 = flags.has("avx512f");
  const fma = flags.has("fma") && flags.has("avx2");
  const flops = avx512 ? "fma512" : fma ? "fma" : "sse";
  return {
    read: flags.has("avx") ? "read32" : "read16",
    flops,
    bytes: avx512 && flags.has("avx512_vnni") ? "bytes512" : flags.has("avx_vnni") ? "vnni256" : flags.has("avx2") ? "bytes256" : "sse",
    bf16: avx512 && flags.has("avx512_bf16") ? "bf16" : flops,
  };
}

interface Setting {
  readonly means: MeasuringMeans;
  readonly program: string;
  readonly flags: ReadonlySet<string>;
  readonly caches: Caches;
}

async function ceilingsOf(threads: number, { means, program, flags, caches }: Setting): Promise<Ceilings> {
  const tasks = tasksFor(flags);
  const reading = async (size: number) => {
    const pages = Math.max(1, Math.floor(size / threads / PAGE)) * PAGE;
    const rounds = Math.max(1, Math.round(READ_BYTES / pages));
    return await best(means.spawn, program, threads, order(tasks.read, pages, rounds), pages * rounds);
  };
  const multiplying = (task: Task) => best(means.spawn, program, threads, order(task, PAGE, ROUNDS), operations[task] * ROUNDS);
  const lastLevel = reached(caches.third, threads);
  // A quarter: others use it too. More where the CPUs' own caches would hold much of that.
  const inCache = Math.max(lastLevel / 4, 2 * reached(caches.second, threads));
  const flops = await multiplying(tasks.flops);
  return {
    threads,
    memoryBytes: await reading(Math.min(MOST_MEMORY, means.machine.memoryBytes / 8, Math.max(256 * MIB, 8 * lastLevel))),
    cacheBytes: inCache <= lastLevel / 2 ? await reading(inCache) : null,
    cacheSize: caches.third[0]!,
    cachesSize: lastLevel,
    flops,
    byteOperations: await multiplying(tasks.bytes),
    bf16Flops: tasks.bf16 === tasks.flops ? flops : await multiplying(tasks.bf16),
  };
}

/** The highest rate, per second, of all processes together; `work` is that of one. */
async function best(spawn: SpawnChild, program: string, threads: number, ordered: Uint8Array<ArrayBuffer>, work: number): Promise<number> {
  let highest = 0;
  for (let trial = 0; trial < TRIALS; trial++) {
    const children = Array.from({ length: threads }, () => new Worker(spawn({ program, stdin: "piped", stdout: "piped", parentDeath: true })));
    await Promise.all(children.map((child) => child.prepare(ordered)));
    const times = await Promise.all(children.map((child) => child.work()));
    highest = Math.max(highest, times.reduce((sum, ns) => sum + work / ns * 1e9, 0));
  }
  return highest;
}

class Worker {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(readonly child: Child) {
    this.#writer = child.stdin!.getWriter();
    this.#reader = child.stdout!.getReader();
  }

  /** Until its memory is there. */
  async prepare(ordered: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#writer.write(ordered);
    await this.#read(1);
  }

  /** How many nanoseconds its rounds took. */
  async work(): Promise<number> {
    await this.#writer.write(new Uint8Array(1));
    const times = new DataView((await this.#read(16)).buffer);
    await this.#writer.close();
    return Number(times.getBigUint64(8, true) - times.getBigUint64(0, true));
  }

  async #read(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length;) {
      const { value } = await this.#reader.read();
      if (!value) throw failed(untimely(await this.child.status));
      bytes.set(value.subarray(0, length - at), at);
      at += value.length;
    }
    return bytes;
  }
}

function failed(why: string): LlmprofError {
  const next = "Where memory is short for good, run without --calibrate.";
  return new LlmprofError(ExitCode.failed, "What this machine can do at most could not be measured: the program that does is gone.", why, next);
}
