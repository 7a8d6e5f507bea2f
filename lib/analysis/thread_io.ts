import type { Instant, Slice } from "../events/span.ts";
import { whoIs } from "../programs/who.ts";
import type { IoResult } from "./io_schema.ts";
import type { ThreadNames } from "./thread_name.ts";

type ThreadResult = IoResult["threads"][number];
type Sums = { -readonly [Key in keyof ThreadResult]: ThreadResult[Key] };

const NONE = { reads: 0, readBytes: 0, readNs: 0, requests: 0, requestBytes: 0, requestNs: 0, faults: 0, major: 0, majorNs: 0 };

/** What each thread read, asked of disks, and touched. */
export class ThreadIo {
  /** By process and thread: two processes may have had one thread's number, one after the other. */
  readonly #threads = new Map<number, Sums>();

  constructor(readonly names: ThreadNames) {}

  slice({ category, track, start, end, args, block, open }: Slice): void {
    if (category === "file.read") {
      const thread = this.#of(track.pid, track.tid!);
      thread.reads++;
      thread.readBytes += open ? 0 : Number(args?.bytes ?? 0);
      thread.readNs += end - start;
    } else if (block && !open) {
      const thread = this.#of(track.pid, block.thread);
      thread.requests++;
      thread.requestBytes += block.bytes;
      thread.requestNs += block.queuedNs + end - start;
    }
  }

  faults({ track, faulted }: Instant): void {
    for (const { tid, faults, major, majorNs } of faulted ?? []) {
      const thread = this.#of(track.pid, tid);
      thread.faults += faults;
      thread.major += major;
      thread.majorNs += majorNs;
    }
  }

  /** Those that waited longest first. */
  result(): ThreadResult[] {
    const waited = ({ readNs, majorNs }: ThreadResult) => readNs + majorNs;
    const threads = [...this.#threads.values()].map((thread) => ({ ...thread, name: this.names.of(thread.pid, thread.tid) }));
    return threads.sort((a, b) => waited(b) - waited(a) || b.requestNs - a.requestNs || b.faults - a.faults || a.tid - b.tid);
  }

  #of(pid: number, tid: number): Sums {
    const who = whoIs(pid, tid);
    let thread = this.#threads.get(who);
    if (!thread) this.#threads.set(who, thread = { pid, tid, name: "", ...NONE });
    return thread;
  }
}
