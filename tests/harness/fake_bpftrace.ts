import { type FakeChild, fakeSpawn } from "./fake_child.ts";
import type { SpawnChild } from "../../lib/machine/child.ts";
import { whoIs } from "../../lib/programs/who.ts";

/** Time of a fake run: CLOCK_BOOTTIME in nanoseconds, one millisecond later at each look. */
export class FakeTime {
  #ms = 0;
  readonly boot = 5_000_000_000n;

  monotonic = () => ++this.#ms;
  /** The wall clock is at 1 s when the machine has been up for 5 s. */
  readonly origin = 1000;

  pass(milliseconds: number): void {
    this.#ms += milliseconds;
  }

  /** Nanoseconds that a program would print now. */
  now(): bigint {
    return this.boot + BigInt(++this.#ms) * 1_000_000n;
  }
}

/** A bpftrace that behaves: gets ready, opens and closes its window when it is told to, beats, and ends. */
export class FakeBpftrace {
  #events = 0;
  #closed = false;
  /** Text of the program, when it has been read. */
  readonly program: Promise<string>;

  constructor(readonly child: FakeChild, readonly time: FakeTime) {
    this.program = child.read;
    child.onSignal = (signal) => {
      if (signal === "SIGWINCH") this.says(`1 ${time.now()} 0`);
      if (signal === "SIGURG") this.#close();
      if (signal === "SIGINT" || signal === "SIGKILL") child.ends(0);
    };
  }

  ready(): void {
    const at = this.time.now();
    // Both clocks at one moment: the wall clock is 4 s behind.
    const wall = at - 4_000_000_000n;
    this.says(`3 ${at} ${wall / 1_000_000_000n}.${String(wall % 1_000_000_000n / 1000n).padStart(6, "0")}`, "ready");
  }

  /** A record of a process's first thread. */
  event(kind: number, pid: number, ...fields: readonly (string | number)[]): void {
    if (this.#closed) return;
    this.#events++;
    this.says([kind, this.time.now(), whoIs(pid), ...fields].join(" "));
  }

  says(...lines: string[]): void {
    this.child.says(lines.join("\n") + "\n");
  }

  #close(): void {
    this.#closed = true;
    this.says(`2 ${this.time.now()} 0`);
    // Its heartbeats come later.
    setTimeout(() => {
      this.time.pass(100);
      this.says(`(9, ${this.time.now()})`, `(9, ${this.time.now()})`, `@n: ${this.#events}`);
    });
  }
}

/**
 * Starts bpftraces that get ready by themselves, and shells that do nothing. Each is handed to `seen` with its program's text, and added to `all` before
 * it has one.
 */
export function spawnBpftraces(time: FakeTime, seen: (bpftrace: FakeBpftrace, text: string) => void, all: FakeChild[] = []): SpawnChild {
  return fakeSpawn((child) => {
    if (!child.options.program.endsWith("bpftrace")) return child.ends(0);
    all.push(child);
    const bpftrace = new FakeBpftrace(child, time);
    void bpftrace.program.then((text) => {
      seen(bpftrace, text);
      bpftrace.ready();
    });
  });
}
