import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { Ns } from "../events/time.ts";
import type { Guard } from "../machine/guard.ts";
import { GO_ON } from "./going_on.ts";
import type { Means } from "./means.ts";
import { sideLook } from "./side_look.ts";
import { continuedEarly, goesOn, stands } from "./standing.ts";

const LONGEST_WAIT_MS = 2000;
/** Threads of a process that stop it at the same time do so within this. */
const TOGETHER_NS = 100e6;

/** In a shell's words, with those of {@link GO_ON}. */
const IS_GONE = `gone() {
  read -r line < "/proc/$1/maps" && return 1
  field "$1" State
  case $value in T | t) return 1 ;; Z) field "$1" Threads && [ "$value" -lt 2 ] ;; esac
}`;

/**
 * Serves the processes that the gate inside the kernel has stopped, one after another: waits until a process really stands, does what has to
 * be done, and lets it go on whatever happens.
 */
export class Gatekeeper {
  #queue: Promise<void> = Promise.resolve();
  /** The bpftraces of the gates. */
  readonly #gates = new Set<number>();
  /** Children that send the SIGCONT of ours. */
  readonly #continuing = new Set<number>();
  /** Who has been stopped and is not continued: how many stops are not served yet, and when the last was. */
  readonly #stops = new Map<number, { readonly left: number; readonly at: Ns }>();
  /** Who went on too early at its present stop, and it is told. */
  readonly #early = new Set<number>();
  #standing = 0;
  #standsSince = 0;
  #stoodMs = 0;
  /** What `fail` heard first. */
  failure: unknown;

  /**
   * `attach` does what has to be done for a process that has stood since a time of `means.monotonic`, and says whether every other process that runs its
   * program has to stand as well. `late`: one of them went on before that. `fail` hears at once of what could not be done.
   */
  constructor(
    readonly means: Means,
    readonly guard: Guard,
    readonly attach: (event: Event, since: number) => Promise<boolean>,
    readonly late: () => Promise<void>,
    readonly fact: (fact: Fact) => void,
    readonly fail: (error: unknown) => void,
  ) {}

  /** From now on this bpftrace has a gate. */
  armed(bpftrace: number): void {
    this.#gates.add(bpftrace);
    void this.guard.armed(bpftrace);
  }

  /** For the observer of a gate's stream. */
  event(event: Event): void {
    if (event.record.endsWith(".released")) return this.#released(event);
    // What the library's own probes say comes by the same program.
    if (!event.record.endsWith(".stopped")) return;
    const since = this.means.monotonic();
    if (this.#standing++ === 0) this.#standsSince = since;
    const { pid, at } = event, before = this.#stops.get(pid);
    this.#stops.set(pid, { left: (before?.left ?? 0) + 1, at });
    if (!before) this.#early.delete(pid);
    else if (at - before.at > TOGETHER_NS) this.#tellEarly(pid);
    this.guard.stopped(pid);
    this.meanwhile(() => this.#serve(event, since));
  }

  /** So long, without the time in which somebody stands at the gate. */
  async lasts(milliseconds: number): Promise<void> {
    let stood = this.#stoodUntilNow();
    for (let left = milliseconds; left > 0;) {
      await this.means.sleep(left);
      const now = this.#stoodUntilNow();
      left = now - stood;
      stood = now;
    }
  }

  #stoodUntilNow(): number {
    return this.#stoodMs + (this.#standing > 0 ? this.means.monotonic() - this.#standsSince : 0);
  }

  /** Work for a process that does not stand: whoever comes to the gate meanwhile waits until it is done. */
  meanwhile(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work).catch((error) => {
      this.failure ??= error;
      this.fail(error);
    });
  }

  /** The same of what is looked at only to be told. */
  look(look: () => Promise<void>): void {
    this.meanwhile(() => sideLook(look(), undefined));
  }

  /** All that has come until now is done. */
  async served(): Promise<void> {
    await this.#queue;
  }

  /** Nobody stands at the gate any more, also of those who came meanwhile. While it stops whoever comes, that may never be. */
  async idle(): Promise<void> {
    for (let seen; seen !== this.#queue;) await (seen = this.#queue);
  }

  async #serve(event: Event, since: number): Promise<void> {
    const { pid } = event;
    let each = false;
    try {
      // The signal is delivered when the system call returns: the library is mapped by then.
      await stands(this.means, pid, LONGEST_WAIT_MS);
      each = await this.attach(event, since);
      if (await goesOn(this.means, pid)) {
        this.#tellEarly(pid);
        await this.late();
      }
    } finally {
      const { left, at } = this.#stops.get(pid)!;
      if (left > 1) {
        this.#stops.set(pid, { left: left - 1, at });
        void this.guard.released(pid);
      } else {
        this.#stops.delete(pid);
        await this.#continue(pid, each);
      }
      if (--this.#standing === 0) this.#stoodMs += this.means.monotonic() - this.#standsSince;
    }
  }

  #released({ values, at }: Event): void {
    const [pid, sender] = values as [number, number];
    const stop = this.#stops.get(pid);
    // Whom we let go its starter may let go first: that was for a stop that has been served.
    if (!this.#continuing.delete(sender) && stop && at >= stop.at) this.#tellEarly(pid, `process ${sender}`);
  }

  /** Once, whether its signal or the process itself is seen first. */
  #tellEarly(pid: number, by?: string): void {
    if (this.#early.has(pid)) return;
    this.#early.add(pid);
    this.fact(continuedEarly(pid, by));
  }

  /**
   * SIGCONT to a process that is no child of ours: Deno would want permission to run anything for that. One that was killed meanwhile has nothing
   * mapped any more, and the gate must not take it for served: the next process that maps the file has to be stopped. (What a process has mapped may be
   * not to be read, or its first thread may have ended: who stands goes on.) `each`: so has every one. Where no child can do it, the guard does.
   */
  async #continue(pid: number, each: boolean): Promise<void> {
    const script = `${GO_ON}\n${IS_GONE}\ngates=$1\nshift\nlets "$1"\ngone "$1" || { ${each ? 'lets "$1"; ' : ""}go_on "$1"; }`;
    try {
      const child = this.means.spawn({ program: "/bin/sh", args: ["-c", script, "sh", [...this.#gates].join(" "), String(pid)], newSession: true });
      this.#continuing.add(child.pid);
      const { code } = await child.status;
      if (code === 0) return void this.guard.released(pid);
    } catch {
      // No room for another process.
    }
    this.#continuing.add(this.guard.pid);
    this.guard.letGo(pid);
  }
}
