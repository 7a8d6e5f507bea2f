import assert from "node:assert/strict";
import { analyse, MS, TestSpans } from "../../tests/harness/spans.ts";
import type { Limits } from "../events/surroundings.ts";
import type { Slice, Span } from "../events/span.ts";
import { atOnceFlags } from "./engine_flags.ts";
import { io } from "./io.ts";
import { presentIo } from "./io_present.ts";

const GIB = 1 << 30;
const t = new TestSpans();

function request(bytes: number): Span {
  const block = { device: "7:0", what: "read", bytes, queuedNs: MS, thread: t.tid, sequential: 0, error: 0 } as const;
  return { ...t.slice("block.request", 0, 10), block };
}

const unanswered: Span = { ...request(GIB) as Slice, open: true };

const limits: Limits = {
  cpus: null,
  throttled: 0,
  throttledNs: 0,
  memoryLimit: null,
  memoryBytes: null,
  killed: 0,
  reads: [{ device: "7:0", bytes: null, requests: 100 }],
};
const limited: Span = { ...t.exit(5), category: "process.limits", limits };

/** What a wait is told to be where a gibibyte came into memory. */
function told(...spans: readonly Span[]): { readonly wait: string; readonly notes: string } {
  const came = t.counter("page cache filled: model.gguf", 900, GIB);
  const found = analyse(io(new Map()), [{ ...t.mark("window"), open: true }, came, ...spans, { ...t.mark("window"), at: 1000 * MS, open: false }]);
  const [first] = found.verdict;
  const notes = presentIo(found).flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
  return { wait: `${first!.wait}: ${first!.evidence}. ${first!.advice}`, notes };
}

const ELSEWHERE = "from elsewhere (a network, a user's file system, by threads of the kernel)";

const WAITS = [
  [
    t.read("model.gguf", 0, 400, GIB),
    `reads: 1 read of 1024.0 MiB at 2684 MB/s, 1024.0 MiB of it ${ELSEWHERE}. If it is on no disk of this machine, a copy there, or`,
  ],
  [
    t.map("model.gguf", 0, 400, GIB),
    `mappings: mmap × 1, which brought at most 1024.0 MiB ${ELSEWHERE}. If it is on no disk of this machine, a copy there, or`,
  ],
  [
    t.touch("model.gguf", 0, 400, 9, { major: 9, majorNs: 400 * MS }),
    `page faults: 9 of 9 page faults waited for what came ${ELSEWHERE}. ${atOnceFlags("model.gguf")} reads it at once, where`,
  ],
] as const;

Deno.test("io: what others fetched for the target no faster disk brings, and its notes say the same", () => {
  for (const [waits, text] of WAITS) {
    for (const asked of [[], [request(100 << 20)]]) {
      const { wait, notes } = told(waits, ...asked);
      assert.ok(wait.startsWith(text), wait);
      assert.doesNotMatch(wait, /the disk|aster disk|blockdev/);
      assert.match(notes, /fetched by others/);
    }
  }
});

Deno.test("io: what the target asked a disk for, or may have, is from there, also where a limit lets threads of the kernel ask", () => {
  for (const [waits] of WAITS) {
    for (const asked of [[request(GIB)], [request(100 << 20), t.mark("lost", 1)], [unanswered], [limited]]) {
      const { wait } = told(waits, ...asked);
      assert.match(wait, /(from|waited for) the disk/);
      assert.doesNotMatch(wait, /elsewhere/);
    }
  }
});
