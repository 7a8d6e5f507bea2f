import assert from "node:assert/strict";
import { readMeans } from "../../lib/commands/means.ts";
import { bufferOf } from "../../lib/machine/buffer.ts";
import { sizesOf } from "../../lib/session/spares.ts";
import { invocation } from "../../lib/tracing/command_line.ts";
import { start } from "../harness/command.ts";
import { matrixTest } from "../harness/kernel.ts";

matrixTest("the kernel has made a buffer of as many bytes as llmprof takes it to have", {}, async ({ path }) => {
  const { machine } = await readMeans(path), bpftrace = machine.bpftrace!;
  for (const asked of [1, 64, 4096]) {
    const how = { ...sizesOf(bpftrace, asked, machine), unsafe: false, prompt: false, warnsOfLoss: false };
    await using running = start([path, "-q", "-B", "line", "-e", 'BEGIN { printf("ready\\n"); }'], { env: { ...invocation(how).env } });
    await running.saw("ready");
    const made = bpftrace.features.ringbuf ? ringBuffers(running.pid) : processorBuffers(running.pid, machine.pageBytes);
    assert.deepEqual([...new Set(made)], [bufferOf(bpftrace, asked, machine).bytes], `${asked} pages`);
  }
});

/** `BPF_MAP_TYPE_RINGBUF` of the kernel's include/uapi/linux/bpf.h. */
const RING_BUFFER = 27;

/** Bytes of each that a process has open. */
function ringBuffers(pid: number): number[] {
  return [...Deno.readDirSync(`/proc/${pid}/fdinfo`)].flatMap(({ name }) => {
    const [, type, entries] = /^map_type:\t(\d+)$[^]*^max_entries:\t(\d+)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/fdinfo/${name}`)) ?? [];
    return Number(type) === RING_BUFFER ? [Number(entries)] : [];
  });
}

/** Bytes of each that a process has mapped, without the page in front that says how far it is full. */
function processorBuffers(pid: number, pageBytes: number): number[] {
  const mapped = Deno.readTextFileSync(`/proc/${pid}/maps`).matchAll(/^([0-9a-f]+)-([0-9a-f]+) .*\[perf_event\]$/gm);
  return [...mapped].map(([, from, to]) => parseInt(to!, 16) - parseInt(from!, 16) - pageBytes);
}
