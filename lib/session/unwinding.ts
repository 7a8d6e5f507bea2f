import { dirname } from "node:path";
import type { LlmprofError } from "../events/errors.ts";
import type { Event } from "../events/event.ts";
import { splitBase } from "../events/time.ts";
import { FilesOnce } from "../machine/files_once.ts";
import type { Guard } from "../machine/guard.ts";
import { findLibraries, keyOf, readMapped } from "../programs/found_libraries.ts";
import { isAttachable, quote, quotePath } from "../programs/quoting.ts";
import { type Dialect, render } from "../programs/render.ts";
import { filesBelow } from "../target/file_below.ts";
import { mappedFile } from "../target/mapped_file.ts";
import { hasEnded, readProcesses } from "../target/process.ts";
import { Timeline } from "../timeline/timeline.ts";
import { unwind, UNWINDERS } from "../../probes/gate/unwind.ts";
import { Attached } from "./attached.ts";
import { HostClock } from "./clock.ts";
import type { Means } from "./means.ts";
import { sharersOf } from "./sharers.ts";
import { sideLook } from "./side_look.ts";
import { Spares } from "./spares.ts";
import { Throwing } from "./throwing.ts";

/** Where a loader finds the library that unwinds stacks, unless a program brings its own. */
const USUAL = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];
const UNWINDER = "libgcc_s.so.1";

/** It says little. */
const BUFFER_PAGES = 64;

/**
 * Lets exceptions through functions at whose return probes stand: whoever throws one is stopped where its unwinding begins, gets the return addresses back
 * that the kernel has hidden, and goes on. A call that is left so is never seen to return.
 */
export class Unwinding {
  /** Files in which unwinding begins. */
  readonly #covered = new Map<string, Promise<void>>();
  #attached: Attached[] = [];
  /** Those that tell by now. */
  readonly #tellers = new Set<Attached>();
  #clock: HostClock | undefined;
  readonly #throwing = new Map<number, Throwing>();
  /** By process, what ends when it has gone on. */
  readonly #served = new Map<number, Promise<void>>();
  readonly #uncovered = new Set<number>();
  readonly #counts = new Map<number, boolean>();
  #counting: Promise<unknown> = Promise.resolve();
  /** How many times one of the target's processes stood. */
  stops = 0;
  /** How many times somebody else stood: whoever runs the same files is trapped in them. */
  othersStops = 0;

  /**
   * `fail`: without its bpftrace an exception is the end of whoever throws one. `counts`: whether a process is one of the target's; undefined while
   * anybody may be.
   */
  constructor(
    readonly means: Means,
    readonly dialect: Dialect,
    readonly guard: Guard,
    readonly fail: (error: LlmprofError) => void,
    readonly counts: (pid: number) => Promise<boolean | undefined>,
  ) {}

  /**
   * Before anything can be thrown in these processes through what is attached to them now, and in whoever else has mapped one of the files of these names:
   * probes there are the file's, whoever runs it, and each may have brought an unwinder of its own.
   */
  async cover(files: FilesOnce, pids: readonly number[], shared: ReadonlyMap<string, string> = new Map()): Promise<void> {
    if (this.dialect.arch !== "x86_64") return;
    const others = shared.size > 0 ? await sharersOf(files, (await readProcesses(files)).values(), shared) : [];
    const all = [...new Set([...pids, ...others.map(({ pid }) => pid)])];
    const found = new Map((await Promise.all(all.map((pid) => this.#find(files, pid)))).flat());
    const fresh = [...found].filter(([key]) => !this.#covered.has(key));
    if (fresh.length > 0) {
      const attached = this.#attach(fresh.map(([, path]) => path));
      for (const [key] of fresh) this.#covered.set(key, attached);
      // The next one may be attached to.
      attached.catch(() => fresh.forEach(([key]) => this.#covered.delete(key)));
    }
    await Promise.all([...found.keys()].map((key) => this.#covered.get(key))).catch(async (error) => {
      const ended = await Promise.all(all.map((pid) => hasEnded(this.means.files, pid)));
      if (!ended.includes(true)) throw error;
      // A path that led through a process has gone with it.
      await this.cover(new FilesOnce(this.means.files), all.filter((_, i) => !ended[i]));
    });
  }

  /** See {@link unwinders}. */
  async #find(files: FilesOnce, pid: number): Promise<[string, string][]> {
    const found = await unwinders(files, pid);
    if (found.size > 0 || await hasEnded(this.means.files, pid)) this.#uncovered.delete(pid);
    else this.#uncovered.add(pid);
    return [...found];
  }

  /** Processes of which no file was found in which unwinding begins. */
  get uncovered(): ReadonlySet<number> {
    return this.#uncovered;
  }

  /** Whose each stop was is known by then. */
  async counted(): Promise<void> {
    await this.#counting;
  }

  /** Whoever throws is stopped. */
  get stopsThrowers(): boolean {
    return this.#attached.length > 0;
  }

  /** Nothing is probed any more. */
  async end(): Promise<void> {
    await Promise.all(this.#served.values());
    this.#covered.clear();
    const ending = this.#attached.splice(0);
    for (const { running } of ending) running.stop();
    await Promise.all(ending.map(({ running }) => running.ended));
  }

  async #attach(paths: readonly string[]): Promise<void> {
    const { means } = this;
    const points = (name: string) => paths.map((path) => `uprobe:${quotePath(path)}:${quote(name)}`);
    const plan = { stream: "unwind", probes: [unwind], filter: { type: "processes", pids: [] }, window: "open" } as const;
    const program = render(plan, this.dialect, ({ functions }) => functions.flat().flatMap((name) => points(String(name))));
    const child = new Spares(means, means.machine.bpftrace!, BUFFER_PAGES, means.machine).take({ unsafe: true, prompt: true });
    const attached = new Attached(program, true, child, means.monotonic);
    this.#attached.push(attached);
    attached.onEvent = (event) => this.#event(attached, event);
    const died = (error: LlmprofError) => {
      this.#tellers.delete(attached);
      if (this.#attached.includes(attached)) this.fail(error);
    };
    const reading = await attached.ready(means, died).catch((error) => {
      this.#attached = this.#attached.filter((other) => other !== attached);
      throw error;
    });
    const clock = this.#clock ??= new HostClock(reading, means.monotonic, means.origin());
    void this.guard.armed(attached.running.pid);
    this.#tellers.add(attached);
    attached.connect(new Timeline({ base: splitBase(clock.base), find: () => unwind, out: () => {} }), null, clock);
  }

  #event(teller: Attached, { record, at, pid, values }: Event): void {
    const [first, second] = values as readonly number[];
    if (record === "gate/unwind.hidden") return this.#thrower(pid).hides({ at, place: first!, address: second! });
    if (record === "gate/unwind.stopped") return this.#serve(pid);
    const throwing = this.#throwing.get(first!);
    if (record === "gate/unwind.asked") throwing?.answers(teller, second!);
    if (record === "gate/unwind.released") throwing?.wentOn(at);
  }

  #thrower(pid: number): Throwing {
    let throwing = this.#throwing.get(pid);
    if (!throwing) {
      // One in the buffer that is being read, those of the others, and one behind them.
      const rounds = this.dialect.perCpuBuffers > 0 ? 3 : 1;
      this.#throwing.set(pid, throwing = new Throwing(this.means, pid, this.#tellers, rounds));
    }
    return throwing;
  }

  /** It may throw again before it is known that it goes on. */
  #serve(pid: number): void {
    const throwing = this.#thrower(pid);
    if (this.#served.has(pid) || !throwing.waits) return;
    this.#counting = Promise.all([this.#counting, this.#count(pid)]);
    void this.guard.stopped(pid);
    const served = throwing.serve().catch(() => false).then((goesOn) => {
      this.#served.delete(pid);
      void (goesOn ? this.guard.released(pid) : this.guard.letGo(pid));
      if (goesOn) return this.#serve(pid);
      this.#throwing.delete(pid);
      this.#counts.delete(pid);
    });
    this.#served.set(pid, served);
  }

  /** It stands, so that who it is can be looked up; of the next one with its number that is forgotten. */
  async #count(pid: number): Promise<void> {
    // Where nobody can be asked it is taken for the target's: more that is missing is said than is.
    const counts = this.#counts.get(pid) ?? await sideLook(this.counts(pid), true);
    if (counts !== undefined && this.#throwing.has(pid)) this.#counts.set(pid, counts);
    if (counts) this.stops++;
    else this.othersStops++;
  }
}

/** Whether that is the name of a file in which unwinding begins. */
export function isUnwinder(name: string): boolean {
  return UNWINDERS.some((prefix) => name.startsWith(prefix));
}

/** By what tells them from others: the unwinders that a process has mapped, and where GCC's is not among them yet, each that it may map. */
async function unwinders(files: FilesOnce, pid: number): Promise<Map<string, string>> {
  const [gcc, other] = UNWINDERS;
  const { mapped, exe } = await readMapped(files, pid);
  const own = await Promise.all(
    mapped.filter(({ name }) => name.startsWith(gcc)).map(async (library) => ({
      key: await keyOf(files, pid, mapped, library),
      file: mappedFile(pid, library),
    })),
  );
  const folders = [...exe === null ? [] : [`${dirname(dirname(exe))}/lib`], ...USUAL];
  // One of another name is known by its inode once it is mapped, and whoever maps it is stopped for that.
  const usual = folders.map((folder) => ({ path: `${folder}/${UNWINDER}`, file: `/proc/${pid}/root${folder}/${UNWINDER}` }))
    .filter(({ file }) => isAttachable(file));
  // Which of several is asked only its loader knows; one that was built without exceptions, or is a part of another, is asked by nobody.
  const others = await findLibraries(files, pid, { prefix: other, symbols: ["_Unwind_RaiseException", "_Unwind_ForcedUnwind"], apart: true }, []);
  const found = own.length > 0 ? [] : [...await filesBelow(files, pid, usual)].map(([file, key]) => ({ key, file }));
  return new Map([...others, ...own, ...found].map(({ key, file }) => [key, file]));
}
