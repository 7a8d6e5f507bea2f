import { dirname } from "node:path";
import type { LlmprofError } from "../events/errors.ts";
import type { Event } from "../events/event.ts";
import { type Ns, splitBase } from "../events/time.ts";
import type { FilesOnce } from "../machine/files_once.ts";
import type { Guard } from "../machine/guard.ts";
import { readMapped } from "../programs/found_libraries.ts";
import { quote, quotePath } from "../programs/quoting.ts";
import { type Dialect, render } from "../programs/render.ts";
import { filesBelow } from "../target/file_below.ts";
import { mappedFile } from "../target/mapped_file.ts";
import { Timeline } from "../timeline/timeline.ts";
import { unwind } from "../../probes/gate/unwind.ts";
import { Attached } from "./attached.ts";
import { HostClock } from "./clock.ts";
import { GO_ON } from "./going_on.ts";
import type { Means } from "./means.ts";
import { Spares } from "./spares.ts";
import { POLL_MS, stands } from "./standing.ts";

/** Where a loader finds the library that unwinds stacks, unless a program brings its own. */
const USUAL = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];
const UNWINDER = "libgcc_s.so.1";

const LONGEST_WAIT_MS = 10_000;
/** Bytes from the beginning of a function: who was stopped by the probe there stands behind its first instruction. */
const FIRST_INSTRUCTION = 16;
/** It says little. */
const BUFFER_PAGES = 64;

/** A place on a stack, and what belongs there. */
interface Hidden {
  readonly tid: number;
  readonly place: number;
  readonly address: number;
}

/** A process that threw. */
interface Throwing {
  readonly hidden: Hidden[];
  /** By thread: what was put back last. */
  readonly given: Map<number, Hidden>;
  /** Threads of which all of that has been told. */
  readonly told: Set<number>;
  /** Where they throw. */
  readonly functions: Set<number>;
  /** When it was last known to stand with all of that put back: it went on behind that. */
  taken: Ns;
  isToServe: boolean;
  served?: Promise<void>;
}

/** A process, and pairs: a place, in eights of bytes from 0 on, and the eight bytes in octal that belong there. Then it goes on. */
const script = `${GO_ON}
` + 'pid=$1; shift; while [ $# -gt 0 ]; do printf "$2" | dd of="/proc/$pid/mem" bs=8 seek="$1" conv=notrunc status=none; shift 2; done; ' +
  'go_on "$pid"';

/**
 * Lets exceptions through functions at whose return probes stand: whoever throws one is stopped where its unwinding begins, gets the return addresses back
 * that the kernel has hidden, and goes on. A call that is left so is never seen to return.
 */
export class Unwinding {
  /** Files in which unwinding begins. */
  readonly #covered = new Map<string, Promise<void>>();
  #attached: Attached[] = [];
  #clock: HostClock | undefined;
  readonly #throwing = new Map<number, Throwing>();
  readonly #uncovered = new Set<number>();
  /** How many times somebody stood. */
  stops = 0;

  /** `fail`: without its bpftrace an exception is the end of whoever throws one. */
  constructor(readonly means: Means, readonly dialect: Dialect, readonly guard: Guard, readonly fail: (error: LlmprofError) => void) {}

  /** Before anything can be thrown in this process through what is attached to it now. */
  async cover(files: FilesOnce, pid: number): Promise<void> {
    if (this.dialect.arch !== "x86_64") return;
    const found = await unwinders(files, pid);
    if (found.size > 0) this.#uncovered.delete(pid);
    else this.#uncovered.add(pid);
    const fresh = [...found].filter(([key]) => !this.#covered.has(key));
    if (fresh.length > 0) {
      const attached = this.#attach(fresh.map(([, path]) => path));
      for (const [key] of fresh) this.#covered.set(key, attached);
      // The next one may be attached to.
      attached.catch(() => fresh.forEach(([key]) => this.#covered.delete(key)));
    }
    await Promise.all([...found.keys()].map((key) => this.#covered.get(key)));
  }

  /** Processes of which no file was found in which unwinding begins. */
  get uncovered(): ReadonlySet<number> {
    return this.#uncovered;
  }

  /** Whoever throws is stopped. */
  get stopsThrowers(): boolean {
    return this.#attached.length > 0;
  }

  /** Nothing is probed any more. */
  async end(): Promise<void> {
    await Promise.all([...this.#throwing.values()].map(({ served }) => served));
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
    const child = new Spares(means, means.machine.bpftrace!, BUFFER_PAGES, means.machine.cpus).take({ unsafe: true, prompt: true });
    const attached = new Attached(program, true, child, means.monotonic);
    this.#attached.push(attached);
    attached.onEvent = (event) => this.#event(event);
    const died = (error: LlmprofError) => void (this.#attached.includes(attached) && this.fail(error));
    const reading = await attached.ready(means.sleep, died).catch((error) => {
      this.#attached = this.#attached.filter((other) => other !== attached);
      throw error;
    });
    const clock = this.#clock ??= new HostClock(reading, means.monotonic, means.origin);
    void this.guard.armed(attached.running.pid);
    attached.connect(new Timeline({ base: splitBase(clock.base), find: () => unwind, out: () => {} }), null, clock);
  }

  #event({ record, at, pid, tid, values }: Event): void {
    let throwing = this.#throwing.get(pid);
    if (!throwing) {
      this.#throwing.set(pid, throwing = { hidden: [], given: new Map(), told: new Set(), functions: new Set(), taken: -Infinity, isToServe: false });
    }
    // It went on without this one: its stack is another by now.
    if (at < throwing.taken) return;
    if (record === "gate/unwind.hidden") throwing.hidden.push({ tid, place: values[0] as number, address: values[1] as number });
    if (record !== "gate/unwind.stopped") return;
    throwing.told.add(tid);
    throwing.functions.add(values[0] as number);
    if (!throwing.isToServe) void this.guard.stopped(pid);
    throwing.isToServe = true;
    throwing.served ??= this.#serve(pid, throwing).catch(() => false).then((goesOn) => {
      throwing.served = undefined;
      if (!goesOn) void this.guard.letGo(pid);
    });
  }

  /** What runs must not be written to. It may throw again before it is known that it goes on; returns whether that is known at the end. */
  async #serve(pid: number, throwing: Throwing): Promise<boolean> {
    while (throwing.isToServe) {
      if (!(await stands(this.means, pid, LONGEST_WAIT_MS))) return false;
      await this.#othersAreTold(pid, throwing);
      throwing.isToServe = false;
      throwing.told.clear();
      throwing.taken = this.#clock!.now();
      const hidden = throwing.hidden.splice(0);
      for (const one of hidden) throwing.given.set(one.tid, one);
      const words = hidden.flatMap(({ place, address }) => [String(place / 8), octal(address)]);
      const args = ["-c", script, "sh", String(pid), ...words];
      const { code } = await this.means.spawn({ program: "/bin/sh", args, newSession: true }).status;
      if (code !== 0) return false;
      this.stops++;
      void this.guard.released(pid);
    }
    return true;
  }

  /** Another thread may have been about to throw when this one stopped all of them. */
  async #othersAreTold(pid: number, { told, given, functions }: Throwing): Promise<void> {
    const { files, sleep } = this.means;
    const tids = (await files.list(`/proc/${pid}/task`)).map(Number);
    if (tids.length === 1) return;
    const look = () => files.texts(tids.map((tid) => `/proc/${pid}/task/${tid}/syscall`));
    let states = await look();
    // The process stands when its first thread does.
    for (let waited = 0; waited < LONGEST_WAIT_MS && states.some((state) => state === "running\n"); waited += POLL_MS) {
      await sleep(POLL_MS);
      states = await look();
    }
    const throwing = tids.filter((_, i) => {
      const at = Number(states[i]?.trimEnd().split(" ").at(-1));
      return [...functions].some((begin) => at > begin && at < begin + FIRST_INSTRUCTION);
    });
    const untold = () => throwing.filter((tid) => !told.has(tid));
    if (untold().length === 0) return;
    const rests = await Promise.all(untold().map(async (tid) => await this.#hasItsOwn(pid, given.get(tid)) ? tid : -1));
    for (let waited = 0; waited < LONGEST_WAIT_MS && untold().some((tid) => !rests.includes(tid)); waited += POLL_MS) await sleep(POLL_MS);
  }

  /** It got back what belongs there, and has not run since. */
  async #hasItsOwn(pid: number, hidden: Hidden | undefined): Promise<boolean> {
    const bytes = hidden && await this.means.files.bytes(`/proc/${pid}/mem`, hidden.place, 8);
    return bytes?.length === 8 && Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)) === hidden!.address;
  }
}

/** Whether that is the name of a file in which unwinding begins. */
export function isUnwinder(name: string): boolean {
  return name.startsWith(unwind.library!.prefix);
}

/** By what tells them from others: the unwinder that a process has mapped, or where it has none yet, each that it may map. */
async function unwinders(files: FilesOnce, pid: number): Promise<Map<string, string>> {
  const { mapped, exe } = await readMapped(files, pid);
  const own = mapped.filter(({ name }) => isUnwinder(name)).map((library) => ({
    path: library.path,
    file: mappedFile(pid, library),
  }));
  const folders = [...exe === null ? [] : [`${dirname(dirname(exe))}/lib`], ...USUAL];
  const usual = folders.map((folder) => ({ path: `${folder}/${UNWINDER}`, file: `/proc/${pid}/root${folder}/${UNWINDER}` }));
  const found = await filesBelow(files, pid, own.length > 0 ? own : usual);
  return new Map([...found].map(([file, key]) => [key, file]));
}

/** Eight bytes, the lowest first, as printf writes them. */
function octal(address: number): string {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(address), true);
  return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
