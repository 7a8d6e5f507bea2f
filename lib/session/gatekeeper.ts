import type { Event } from "../events/event.ts";
import type { Guard } from "../machine/guard.ts";
import { readStat } from "../target/process.ts";
import type { Means } from "./means.ts";

const POLL_MS = 2;
const LONGEST_WAIT_MS = 2000;

/**
 * Serves the processes that the gate inside the kernel has stopped, one after another: waits until a process really stands, does what has to
 * be done, and lets it go on whatever happens.
 */
export class Gatekeeper {
  #queue: Promise<void> = Promise.resolve();
  /** What the first failing attachment failed with. */
  failure: unknown;

  constructor(readonly means: Means, readonly guard: Guard, readonly attach: (event: Event) => Promise<void>) {}

  /** For the observer of a gate's stream. */
  event(event: Event): void {
    if (!event.record.endsWith(".stopped")) return;
    this.guard.stopped(event.pid);
    this.meanwhile(() => this.#serve(event));
  }

  /** Work for a process that does not stand: whoever comes to the gate meanwhile waits until it is done. */
  meanwhile(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work).catch((error) => void (this.failure ??= error));
  }

  /** Nobody stands at the gate any more. */
  async idle(): Promise<void> {
    await this.#queue;
  }

  async #serve(event: Event): Promise<void> {
    const { pid } = event;
    try {
      await this.#standing(pid);
      await this.attach(event);
    } finally {
      await continueProcess(this.means, pid);
      this.guard.released(pid);
    }
  }

  /** The signal is delivered when the system call returns: the library is mapped by then. */
  async #standing(pid: number): Promise<void> {
    for (let waited = 0; waited < LONGEST_WAIT_MS; waited += POLL_MS) {
      const stat = await readStat(this.means.files, pid);
      if (!stat || stat.state === "T") return;
      await this.means.sleep(POLL_MS);
    }
  }
}

/** SIGCONT to a process that is no child of ours: Deno would want permission to run anything for that. */
async function continueProcess(means: Means, pid: number): Promise<void> {
  await means.spawn({ program: "/bin/sh", args: ["-c", 'kill -CONT "$1" 2>/dev/null', "sh", String(pid)] }).status;
}
