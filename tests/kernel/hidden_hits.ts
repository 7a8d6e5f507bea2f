import assert from "node:assert/strict";
import { join } from "node:path";
import { ownName } from "../harness/temporary.ts";
import type { LoopDevice } from "./loop_device.ts";

const TRACING = "/sys/kernel/tracing/instances";

/** Hits of a tracepoint that no BPF program can have seen. */
export interface HiddenHits extends Disposable {
  count(): number;
}

/** Threads of the first process that live now. */
function firstThreads(): string[] {
  return [...Deno.readDirSync("/proc/1/task")].map(({ name }) => name);
}

/** What they are called, as those are that come and go meanwhile. */
export function firstNames(): string[] {
  return [...new Set(firstThreads().map((tid) => Deno.readTextFileSync(`/proc/1/task/${tid}/comm`).trimEnd()))];
}

/**
 * Some kernels for sandboxes run no BPF program while a thread of their first process is on the processor, and count no miss either. ftrace, which is no BPF
 * program, says which answers of a disk, which an interrupt brings, came on top of one of these threads. (That one of them gave its processor to another
 * thread it does not say.) `names`: where there are more answers than the buffer holds, those that come on top of threads of such a name are kept alone.
 */
export function hiddenAnswers({ dev }: LoopDevice, names?: readonly string[]): HiddenHits {
  const folder = join(TRACING, ownName);
  const event = join(folder, "events", "block", "block_rq_complete");
  const hit = /^.{1,16}-(\d+) .*block_rq_complete:/gm;
  Deno.mkdirSync(folder);
  Deno.writeTextFileSync(join(folder, "buffer_size_kb"), "16384");
  const on = names?.map((name) => `comm == "${name}"`).join(" || ");
  Deno.writeTextFileSync(join(event, "filter"), on === undefined ? `dev == ${dev}` : `dev == ${dev} && (${on})`);
  Deno.writeTextFileSync(join(event, "enable"), "1");
  return {
    count() {
      const first = new Set(firstThreads());
      return [...Deno.readTextFileSync(join(folder, "trace")).matchAll(hit)].filter(([, tid]) => names !== undefined || first.has(tid!)).length;
    },
    [Symbol.dispose]() {
      Deno.writeTextFileSync(join(event, "enable"), "0");
      Deno.removeSync(folder);
    },
  };
}

/**
 * How often threads of the first process that still live gave their processor to another one since the call. No BPF program sees it, so each hides one that
 * comes back by it.
 */
export function hiddenSwitches(): () => number {
  const before = switchesOfFirst();
  return () => [...switchesOfFirst()].reduce((sum, [tid, switches]) => sum + switches - (before.get(tid) ?? 0), 0);
}

function switchesOfFirst(): Map<string, number> {
  const rows = firstThreads().flatMap((tid): [string, number][] => {
    try {
      const status = Deno.readTextFileSync(`/proc/1/task/${tid}/status`);
      return [[tid, [...status.matchAll(/ctxt_switches:\s+(\d+)/g)].reduce((sum, [, switches]) => sum + Number(switches), 0)]];
    } catch {
      // Ended in the meantime.
      return [];
    }
  });
  return new Map(rows);
}

/** Compares what can be compared: `compare` returns false where something was hidden from every BPF program, and is asked again then, twice at most. */
export async function compareSeen(compare: () => Promise<boolean>): Promise<void> {
  for (let run = 1; run <= 3; run++) if (await compare()) return;
  assert.fail("The kernel hid hits in three runs.");
}
