import type { Decoder, Snapshot } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { systemCallName } from "./syscall_names.ts";
import template from "./syscalls.bt" with { type: "text" };

const CALLS = "process/syscalls.syscalls";
const key = ["pid", "tid", "call"];

/** System calls by thread: how many, and how long. */
export const syscalls: Probe = {
  name: "process/syscalls",
  summary: "system calls of each thread: count and time",
  template,
  params: { arch: { type: "arch", x86_64: "0", aarch64: "1" } },
  tracepoints: ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"],
  asked: "syscalls",
  records: {},
  maps: { syscalls: { key, unit: "calls" }, syscall_ns: { key, unit: "ns" } },
  decoder: (tracks) => new SyscallsDecoder(tracks),
};

interface Sums {
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  calls: number;
  ns: number;
}

/** Sums grow until the program that keeps them ends; another life, and another turn, have a program of their own. */
class SyscallsDecoder implements Decoder {
  /** By stream and key. */
  #sums = new Map<string, Sums>();

  constructor(readonly tracks: Tracks) {}

  event(): void {}

  snapshot({ stream, map, key, value }: Snapshot): void {
    const [pid, tid, call] = key as [number, number, number];
    const id = `${stream} ${pid} ${tid} ${call}`;
    let sums = this.#sums.get(id);
    if (!sums) {
      this.#sums.set(id, sums = { pid, tid, name: systemCallName(Math.floor(call / 2), call % 2 === 0 ? "x86_64" : "aarch64"), calls: 0, ns: 0 });
    }
    if (map === CALLS) sums.calls = value;
    else sums.ns = value;
  }

  end(at: Ns, out: SpanSink): void {
    for (const { pid, tid, name, calls, ns } of this.#sums.values()) {
      const track = pid === 0 ? this.tracks.run() : this.tracks.lane(pid, "system calls", 3);
      out({ type: "instant", track, name: `${name} ${tid}`, category: "process.syscalls", at, args: { call: name, thread: tid, calls, ns } });
    }
    this.#sums = new Map();
  }
}
