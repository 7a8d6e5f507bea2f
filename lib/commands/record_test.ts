import assert from "node:assert/strict";
import { access } from "../../probes/files/access.ts";
import { request } from "../../probes/block/request.ts";
import { switches } from "../../probes/sched/switch.ts";
import { analyse, MS, TestSpans } from "../../tests/harness/spans.ts";
import { atOnceFlags } from "../analysis/engine_flags.ts";
import type { Span } from "../events/span.ts";
import type { Header } from "../timeline/header.ts";
import { recordProfile } from "./record.ts";

const t = new TestSpans();
const header = { options: {}, host: {} } as Partial<Header> as Header;
const window = (at: number, open: boolean): Span => ({ ...t.mark("window"), at: at * MS, open });

function off(reason: string, start: number, end: number, call?: string): Span {
  const off = { reason, ...(call !== undefined && { call }), queuedNs: 0, waker: null, taker: null, from: 0, cpu: 0, migrated: false };
  return { ...t.slice("sched.off", start, end), off };
}

/** What a second of io and sched says of waits, in the summary and to a person. */
function told(...spans: readonly Span[]) {
  const profile = recordProfile(["io", "sched"]);
  const result = analyse(profile.analyse(header), [window(0, true), ...spans, window(1000, false)]);
  const notes = profile.present(result).flatMap((view) => view.type === "note" && view.text.startsWith("Waits for") ? [view.text] : []);
  return { verdict: result.sched!.verdict.map(({ wait, evidence }) => [wait, evidence]), notes };
}

Deno.test("record: of io and sched the three longest waits are told once, by sched, in the files that io knows", () => {
  const { verdict, notes } = told(
    off("sleep", 0, 50, "nanosleep"),
    t.read("model.gguf", 100, 500, 4096),
    off("disk", 150, 450, "pread64"),
    off("lock", 500, 700, "futex"),
    t.touch("model.gguf", 700, 860, 17, { major: 3, majorNs: 155 * MS }),
    off("page fault", 700, 850),
  );
  const inFiles = [
    "longest for reads of model.gguf, 1 read of 4 KiB at 0 MB/s",
    "longest for page faults in model.gguf, 3 of 17 page faults waited for the disk",
  ];
  assert.deepEqual(verdict, [["disk", inFiles[0]], ["lock", "1 time in futex"], ["page fault", inFiles[1]]]);
  assert.deepEqual(notes.map((note) => note.split(":")[0]), ["Waits for the disk", "Waits for other threads", "Waits for page faults"]);
  assert.ok(notes[2]!.includes(`3 of 17 page faults waited for the disk. ${atOnceFlags("model.gguf")} reads it at once`), notes[2]);
});

Deno.test("record: a wait that is for no file's reads has none, and where no thread has anything to do io tells its own", () => {
  const written = told(t.read("model.gguf", 100, 300, 4096), off("disk", 400, 700, "fsync"));
  assert.deepEqual([written.verdict, written.notes.length], [[["disk", "1 time in fsync"]], 1]);
  const idle = told(t.read("model.gguf", 0, 200, 4096), off("events", 0, 999, "epoll_wait"));
  assert.deepEqual(idle.notes.map((note) => note.split(":")[0]), ["Waits for reads of model.gguf"]);
});

Deno.test("record: for which file threads that compute wait is not told by what others read", () => {
  const other = (...spans: readonly Span[]) => spans.map((span) => ({ ...span, track: t.tracks.thread(100, 101) }) as Span);
  const { verdict } = told(
    t.read("model.gguf", 0, 90, 4096),
    ...other(off("disk", 0, 80, "pread64"), off("events", 81, 999, "epoll_wait")),
    off("disk", 0, 30, "fsync"),
  );
  assert.deepEqual(verdict, [["disk", "1 time in fsync"]]);
});

Deno.test("record: what io and sched alone look at is not predicted, and what others look at, too, is", () => {
  const { layers, probes } = recordProfile(["coldstart", "io", "sched"]).unpriced!;
  assert.deepEqual(layers, ["io", "sched"]);
  assert.deepEqual([request, switches, access].map((probe) => probes.includes(probe)), [true, true, false]);
  const both = recordProfile(["io", "sched"]);
  assert.deepEqual(both.unpriced!.probes, both.probes);
  assert.deepEqual(recordProfile(["operators"]).unpriced, { layers: [], probes: [] });
});
