import assert from "node:assert/strict";
import { analyse, MS, TestSpans } from "../../tests/harness/spans.ts";
import type { BlockRequest, Slice, Span } from "../events/span.ts";
import { io } from "./io.ts";
import { presentIo } from "./io_present.ts";
import { type IoResult, ioResultSchema } from "./io_schema.ts";

const t = new TestSpans();
const shut = (at: number, open: boolean): Span => ({ ...t.mark("window"), at: at * MS, open });

function request(start: number, end: number, more: Partial<BlockRequest> = {}): Span {
  const block: BlockRequest = { device: "7:0", what: "read", bytes: 4096, queuedNs: MS, thread: t.tid, sequential: 0, error: 0, ...more };
  return { ...t.slice("block.request", start, end), block };
}

function result(spans: readonly Span[], names = new Map([["7:0", "loop0"]])) {
  return ioResultSchema.parse(analyse(io(names), [shut(0, true), ...spans, shut(1000, false)]));
}

Deno.test("io: requests by device and kind, the queue and the device apart, and how many the device had at once", () => {
  const found = result([
    request(0, 100),
    request(50, 100, { sequential: 1 }),
    request(100, 400, { what: "write", queuedNs: 2 * MS, error: 5 }),
    request(500, 510, { device: "8:0" }),
    { ...t.exit(600), category: "block.requeue", args: { device: "7:0" } },
  ]);
  assert.deepEqual(
    found.devices.map((
      { name, device, what, requests, bytes, errors, requeued, sequential, meanInFlight, queue, service },
    ) => [
      name ?? device,
      what,
      requests,
      bytes,
      errors,
      requeued,
      sequential,
      meanInFlight,
      queue.totalNs / MS,
      service.totalNs / MS,
      service.maxNs / MS,
    ]),
    [
      ["loop0", "write", 1, 4096, 1, 1, 0, 0.3, 2, 300, 300],
      ["loop0", "read", 2, 8192, 0, 0, 1, 0.15, 2, 150, 100],
      ["8:0", "read", 1, 4096, 0, 0, 0, 0.01, 1, 10, 10],
    ],
    "what a device gave back is counted once, whatever kinds it had",
  );
  const notes = presentIo(found).flatMap((view) => view.type === "note" && view.text.includes("once more") ? [view.text] : []);
  assert.deepEqual(notes, ["1 request of loop0 had to be handed to it once more."]);
});

Deno.test("io: two ways to one disk, which have its name, are one", () => {
  const way = (device: string, at: number): Span[] => [
    request(at, at + 100, { device }),
    { ...t.exit(600), category: "block.requeue", args: { device } },
    { ...t.exit(700), category: "block.pieces", name: "read", args: { device, what: "read", merged: 2, split: 3 } },
  ];
  const names = new Map([["259:0", "nvme0n1"], ["259:2", "nvme0n1"]]);
  const { devices, processes } = result([...way("259:2", 0), ...way("259:0", 50)], names);
  const told = devices.map(({ device, name, requests, requeued, merged, split }) => [device, name, requests, requeued, merged, split]);
  assert.deepEqual([told, devices[0]!.meanInFlight], [[["259:0", "nvme0n1", 2, 2, 4, 6]], 0.2]);
  assert.deepEqual(processes.map(({ requests }) => requests), [2]);
});

Deno.test("io: what was merged into requests and split off them is a column of its own where there was any", () => {
  const pieces = (at: number, what: string, merged: number, split: number): Span => ({
    ...t.exit(at),
    category: "block.pieces",
    name: what,
    args: { device: "7:0", what, merged, split },
  });
  const shown = (...more: readonly Span[]) => {
    const found = result([request(0, 100), request(0, 50, { what: "write" }), ...more]);
    const table = presentIo(found).find((view) => view.type === "table" && view.title.startsWith("Requests to disks"))!;
    const titles = table.type === "table" ? table.columns.map(({ title }) => title) : [];
    return { found: found.devices.map(({ what, merged, split }) => [what, merged, split]), titles: titles.slice(3, 5) };
  };
  assert.deepEqual(shown(), { found: [["read", 0, 0], ["write", 0, 0]], titles: ["bytes", "in a row"] });
  assert.deepEqual(shown(pieces(200, "read", 7, 0)).titles, ["merged into them", "bytes"]);
  assert.deepEqual(shown(pieces(200, "read", 7, 0), pieces(300, "read", 4, 0), pieces(300, "write", 0, 3)), {
    found: [["read", 11, 0], ["write", 0, 3]],
    titles: ["merged into them", "split off"],
  });
});

Deno.test("io: requests by process, how large they are, and how many took how long by powers of two of a microsecond", () => {
  const other = t.of(200);
  const named: Span = { type: "name", track: t.slice("", 0, 0).track, name: "server", at: 0 };
  const found = result([
    named,
    request(0, 0.0005),
    request(10, 10.0015, { bytes: 8192 }),
    request(20, 21, { bytes: 65_536 }),
    { ...request(30, 33) as Slice, track: other.slice("block.request", 30, 33).track },
  ]);
  const rows = found.processes.map(({ pid, process, name, requests, bytes, service }) => [pid, process, name, requests, bytes, service.totalNs / MS]);
  assert.deepEqual(rows, [[200, "", "loop0", 1, 4096, 3], [t.pid, "server", "loop0", 3, 77_824, 1.002]]);
  const [all] = found.devices;
  assert.deepEqual(all!.sizes, { p50Bytes: 4096, p99Bytes: 65_536, maxBytes: 65_536 });
  assert.deepEqual(all!.service.slots.map(({ slot, count }) => [slot, count]), [[0, 2], [9, 1], [11, 1]]);
  const table = presentIo(found).find((view) => view.type === "table" && view.title === "Requests by process");
  assert.deepEqual(table?.type === "table" && table.rows.map(([process]) => process), ["200", `server ${t.pid}`]);
});

Deno.test("io: files of one name in two folders are two rows, with what each had brought from the disk", () => {
  const name = "model.safetensors";
  const cached = t.counter(`page cache filled: ${name} (inode 8)`, 300, 8192);
  const { files, tensors } = result([
    t.read(name, 0, 10, 1000, 7),
    t.read(name, 10, 30, 3000, 8),
    t.slice("memory.touch", 40, 50, { file: name, dev: 1, inode: 8, faults: 3 }),
    {
      ...t.exit(60),
      category: "memory.tensors",
      name,
      args: { file: name, dev: 1, inode: 7 },
      touched: [{ tensor: "a", faults: 1, major: 0, majorNs: 0 }],
    },
    { ...cached, track: { ...cached.track, file: { dev: 1, inode: 8 } } },
  ]);
  assert.deepEqual(files.map(({ file, reads, readBytes, faults, cachedBytes }) => [file, reads, readBytes, faults, cachedBytes]), [
    [`${name} (inode 8)`, 1, 3000, 3, 8192],
    [`${name} (inode 7)`, 1, 1000, 0, 0],
  ]);
  assert.deepEqual(tensors.map(({ file, tensor }) => [file, tensor]), [[`${name} (inode 7)`, "a"]]);
});

Deno.test("io: weights are weights, also where two files of them have one name", () => {
  const name = "model.safetensors", { args } = t.map(name, 0, 1);
  const waits = (inode: number): Span[] => [
    t.read(name, 0, 200, 4096, inode),
    { ...t.slice("file.map", 200, 300, { ...args, inode, bytes: 4096 }) },
    t.touch(name, 300, 450, 9, { dev: 1, inode, major: 9, majorNs: 150 * MS }),
  ];
  const brought = (row: string, inode: number): Span => {
    const cached = t.counter(`page cache filled: ${row}`, 900, 8192);
    return { ...cached, track: { ...cached.track, file: { dev: 1, inode } } };
  };
  const advices = (...spans: readonly Span[]) =>
    result(spans).verdict.map(({ wait, of, advice }) => [wait, of, /second start|smaller quant|eager/.exec(advice)?.[0]]);
  const told = (of: string) => [["reads", of, "second start"], ["page faults", of, "eager"], ["mappings", of, "smaller quant"]];
  assert.deepEqual(advices(...waits(7), brought(name, 7)), told(name));
  assert.deepEqual(advices(...waits(7), t.open(name, 0, 1, 8), brought(name, 8), brought(`${name} (inode 7)`, 7)), told(`${name} (inode 7)`));
});

Deno.test("io: of a file that is called by a number nobody says that it is a model, nor of others' models what llama.cpp has for its own", () => {
  for (const name of [`${"0a".repeat(32)}…`, "model.onnx"]) {
    const { verdict } = result([t.touch(name, 300, 450, 9, { major: 9, majorNs: 150 * MS })]);
    assert.deepEqual(verdict.map(({ of, advice }) => [of, advice]), [[name, "More memory keeps it, and a second start finds it there."]]);
  }
});

Deno.test("io: a file's reads, mappings and faults, and what of it came from the disk", () => {
  const found = result([
    t.open("model.gguf", 0, 1),
    t.read("model.gguf", 1, 11, 1000),
    t.read("model.gguf", 11, 31, 3000),
    t.map("model.gguf", 40, 41, 5000),
    t.touch("model.gguf", 50, 150, 17, { major: 3, majorNs: 90 * MS }),
    t.read("config.json", 200, 201, 7),
    { ...t.counter("page cache filled: model.gguf", 300, 4096) },
    { ...t.counter("page faults", 300, 23) },
  ]);
  assert.deepEqual(
    found.files.map((
      { file, opens, reads, readBytes, readNs, mappedBytes, faults, faultNs, major, majorNs, cachedBytes },
    ) => [file, opens, reads, readBytes, readNs / MS, mappedBytes, faults, faultNs / MS, major, majorNs / MS, cachedBytes]),
    [
      ["model.gguf", 1, 2, 4000, 30, 5000, 17, 100, 3, 90, 4096],
      ["config.json", 0, 1, 7, 1, 0, 0, 0, 0, 0, 0],
    ],
  );
  assert.deepEqual([found.pageFaults, found.majorFaults], [23, 3]);
  const told = presentIo(found).map((view) => view.type === "note" ? view.text : "").join("\n");
  assert.match(told, /No disk answered the target anything: what came into memory was fetched by others/);
  assert.match(
    told,
    /Waits for page faults in model\.gguf: 9\.0 % of the time watched, threads added, 90\.0 ms, 3 of 17 page faults waited for what came .*\. llama\.cpp's --load-mode none or/,
  );
  assert.match(
    told,
    /Waits for reads of model\.gguf: 3\.0 % of the time watched, threads added, 30\.0 ms, 2 reads of 4 KiB at 0 MB\/s, at most 4 KiB of it from elsewhere .*\. If it is on no disk/,
  );
});

Deno.test("io: a file is read as fast as all threads read it that do so at once, and what a disk's limit does not allow is not held back by that", () => {
  const GIB = 1 << 30, other = t.of(t.pid, t.tid + 1);
  const limits = { cpus: null, throttled: 0, throttledNs: 0, memoryLimit: null, memoryBytes: null, killed: 0 };
  const found = result([
    { ...t.exit(5), category: "process.limits", limits: { ...limits, reads: [{ device: "7:0", bytes: 1e9, requests: null }] } },
    request(0, 300, { bytes: GIB }),
    t.read("model.gguf", 0, 400, GIB / 2),
    other.read("model.gguf", 100, 400, GIB / 2),
    t.counter("page cache filled: model.gguf", 900, GIB),
  ]);
  const [file] = found.files, [reads] = found.verdict;
  assert.deepEqual([file!.readNs / MS, file!.readingNs / MS, reads!.ns / MS], [700, 400, 700]);
  assert.equal(reads!.evidence, "2 reads of 1024.0 MiB at 2684 MB/s, 1024.0 MiB of it from the disk");
});

Deno.test("io: a file that each of several processes reads whole comes from the disk once, and is held back by a disk's limit like any other", () => {
  const MIB = 1 << 20, size = 400 * MIB;
  const limits = { cpus: null, throttled: 0, throttledNs: 0, memoryLimit: null, memoryBytes: null, killed: 0 };
  const limited: Span = { ...t.exit(5), category: "process.limits", limits: { ...limits, reads: [{ device: "7:0", bytes: 1e9, requests: null }] } };
  const told = (pids: readonly number[], came: number, length: number, ...more: readonly Span[]) => {
    const spans = pids.map((pid) => t.of(pid).read("model.safetensors", 0, 400, length));
    const cached = t.counter("page cache filled: model.safetensors", 900, came);
    const { files, verdict } = result([limited, request(0, 300, { bytes: came }), ...more, ...spans, cached]), [reads] = verdict;
    const advice = /Little was seen|faster disk/.exec(reads!.advice)?.[0];
    return [files[0]!.readOnceBytes / MIB, advice, /control group allows/.test(reads!.evidence)];
  };
  const ranks = [200, 201, 202, 203];
  assert.deepEqual(told(ranks, size, size), [400, "faster disk", true]);
  // A part for each, most of which was in memory; and one that reads it again and again.
  const open = t.open("model.safetensors", 0, 1);
  assert.deepEqual(told(ranks, size / 8, size / 4, { ...open, args: { ...open.args, bytes: size } }), [400, "Little was seen", false]);
  assert.deepEqual(told([200, 200, 200, 200], size, size), [1600, "Little was seen", false]);
  // Nobody saw it opened.
  assert.deepEqual(told(ranks, size / 8, size / 4), [400, "Little was seen", false]);
  assert.deepEqual(told(ranks, size, size / 4), [400, "faster disk", true]);
});

Deno.test("io: what others fetched of a file that is in memory came from no disk, also where one has a limit", () => {
  const MIB = 1 << 20, limits = { cpus: null, throttled: 0, throttledNs: 0, memoryLimit: null, memoryBytes: null, killed: 0 };
  const limited: Span = { ...t.exit(5), category: "process.limits", limits: { ...limits, reads: [{ device: "7:0", bytes: 1e9, requests: null }] } };
  const { verdict } = result([limited, t.read("model.gguf", 0, 400, 4000 * MIB), t.counter("page cache filled: model.gguf", 900, 100 * MIB)]);
  assert.match(verdict[0]!.evidence, /100\.0 MiB of it from elsewhere \(a network, [^)]*\)$/);
});

Deno.test("io: it is said where most of what came into memory was fetched by others, and only where that is known", () => {
  const told = (own: number, came: number, ...more: readonly Span[]) =>
    presentIo(result([request(0, 10, { bytes: own }), t.counter("page cache filled: model.gguf", 300, came), ...more]))
      .flatMap((view) => view.type === "note" && view.text.includes("fetched by others") ? [view.text] : []);
  assert.deepEqual(told(4096, 2 << 20), [
    "Of the 2.0 MiB that came into memory for the target it asked disks for 4 KiB itself. The rest was fetched by others for it: a network or a user's " +
    "file system, or threads of the kernel; or it is packed on the disk, or a hole of a file.",
  ]);
  assert.deepEqual(told(1 << 20, 2 << 20), []);
  assert.deepEqual(told(4096, 1 << 19), []);
  assert.deepEqual(told(4096, 2 << 20, t.mark("lost", 1)), []);
});

Deno.test("io: what is read past the page cache is taken neither for cached nor for nothing", () => {
  const told = (...spans: readonly Span[]) =>
    presentIo(result(spans)).flatMap((view) => view.type === "note" && /past it/.test(view.text) ? [view.text] : []);
  const direct = request(0, 10, { bytes: 64 << 20 }), came = t.counter("page cache filled: model.gguf", 300, 1 << 20);
  assert.deepEqual(told(direct, came), [
    "Of the 64.0 MiB that the target asked disks for itself 1.0 MiB was seen to enter the page cache. The rest was read past it (O_DIRECT), came back " +
    "from swap, or is what a file system reads for itself or for a write.",
  ]);
  assert.deepEqual([told(request(0, 10, { bytes: 4 << 20 }), came), told(request(0, 10)), told(direct, t.mark("lost", 1))], [[], [], []]);
  assert.deepEqual(told(request(0, 10, { bytes: 64 << 20, what: "write" })), []);
  // Of a file that a network serves no disk is asked, and nobody here knows whether it was cached.
  assert.deepEqual(told(t.read("model.gguf", 0, 10, 64 << 20)), [
    "No disk answered the target anything: what was read was in the page cache, or came past it (O_DIRECT) from elsewhere: a network, a user's file system, " +
    "memory that serves as a disk.",
  ]);
});

Deno.test("io: what each thread read, asked of disks and touched, who waited longest first", () => {
  const other = t.tid + 1;
  const faulted = [{ tid: t.tid, faults: 7, major: 0, majorNs: 0 }, { tid: other, faults: 3, major: 2, majorNs: 50 * MS }];
  const found = result([
    { type: "name", track: t.tracks.process(t.pid), name: "/usr/bin/reader", at: 0 },
    t.read("a", 0, 10, 100),
    t.read("b", 10, 30, 200),
    request(0, 5),
    request(10, 12, { thread: other, bytes: 512 }),
    { ...t.exit(900), category: "memory.threads", faulted },
  ]);
  const numbers = found.threads.map((
    { tid, name, reads, readBytes, readNs, requests, requestBytes, requestNs, faults, major, majorNs },
  ) => [tid, name, reads, readBytes, readNs / MS, requests, requestBytes, requestNs / MS, faults, major, majorNs / MS]);
  assert.deepEqual(numbers, [
    [other, "", 0, 0, 0, 1, 512, 3, 3, 2, 50],
    [t.tid, "reader", 2, 300, 30, 1, 4096, 6, 7, 0, 0],
  ]);
  const table = presentIo(found).find((view) => view.type === "table" && view.title === "Threads");
  assert.deepEqual(table?.type === "table" && table.rows.map(([name]) => name), [`${other}`, `reader ${t.tid} main`]);
});

Deno.test("io: a thread that has the number of another process's is another one", () => {
  const later = new TestSpans(t.pid + 7, t.tid), found = result([t.read("a", 0, 10, 100), later.read("b", 20, 25, 30)]);
  assert.deepEqual(found.threads.map(({ pid, tid, readBytes }) => [pid, tid, readBytes]), [[t.pid, t.tid, 100], [t.pid + 7, t.tid, 30]]);
});

Deno.test("io: faults by tensor, of all processes, most time for the disk first", () => {
  const touched = (tensor: string | null, faults: number, major: number) => ({ tensor, faults, major, majorNs: major * MS });
  const told = (...all: ReturnType<typeof touched>[]): Span => ({ ...t.exit(900), name: "m.gguf", category: "memory.tensors", touched: all });
  const found = result([told(touched(null, 1, 0), touched("a", 5, 0), touched("b", 3, 2)), told(touched("a", 1, 1))]);
  assert.deepEqual(found.tensors.map(({ tensor, faults, major, majorNs }) => [tensor, faults, major, majorNs / MS]), [
    ["b", 3, 2, 2],
    ["a", 6, 1, 1],
    [null, 1, 0, 0],
  ]);
  const table = presentIo(found).find((view) => view.type === "table");
  assert.deepEqual(table?.type === "table" && table.rows[2], ["m.gguf", "(header)", 1, 0, 0]);
});

Deno.test("io: the three longest waits that matter, and nothing where none does", () => {
  const { verdict } = result([
    t.read("weights.gguf", 0, 400, 1 << 20),
    t.touch("weights.gguf", 400, 700, 9, { major: 9, majorNs: 300 * MS }),
    t.read("small", 700, 705, 10),
    t.read("warm.gguf", 710, 810, 1 << 20),
    { ...t.counter("page cache filled: weights.gguf", 900, 1 << 20) },
    request(0, 10, { queuedNs: 40 * MS }),
    request(0, 100, { device: "8:0", queuedNs: 50 * MS }),
  ]);
  assert.deepEqual(verdict.map(({ wait, of, share, ns }) => [wait, of, share, ns / MS]), [
    ["reads", "weights.gguf", 0.4, 400],
    ["page faults", "weights.gguf", 0.3, 300],
    ["reads", "warm.gguf", 0.1, 100],
  ]);
  const queued = result([request(0, 10, { queuedNs: 40 * MS }), request(0, 100, { device: "8:0", queuedNs: 50 * MS })]).verdict;
  assert.deepEqual(queued.map(({ wait, of, ns }) => [wait, of, ns / MS]), [["queue", "loop0", 40]]);
  // 32 that wait together are one wait; a few that were held back are none, however long.
  const together = result(Array.from({ length: 32 }, (_, i) => request(100 + i, 101 + i, { queuedNs: 60 * MS })));
  assert.deepEqual(together.verdict.map(({ share, ns }) => [share, ns / MS]), [[0.091, 91]]);
  assert.ok(
    presentIo(together).some((view) => view.type === "note" && /loop0: 9\.1 % of the time watched, 91\.0 ms, 32 reads, half/.test(view.text)),
  );
  assert.deepEqual(result([request(0, 9), request(10, 19), request(20, 21, { queuedNs: 300 * MS })]).verdict, []);
  const idle = result([t.read("small", 700, 705, 10)]);
  assert.deepEqual(idle.verdict, []);
  const says = (shown: IoResult, text: string) => presentIo(shown).some((view) => view.type === "note" && view.text.startsWith(text));
  assert.ok(says(idle, "Nothing waits"));
  // Who reads ahead waits for none of it.
  const ahead = result([request(0, 300)]);
  assert.deepEqual(ahead.verdict, []);
  assert.ok(says(ahead, "Disks read for it, though") && !says(ahead, "Nothing waits"));
});

Deno.test("io: calls that fill a mapping from the disk are waits for it: which, how long, and what they brought; what was in memory is none", () => {
  const MIB = 1 << 20;
  const cold = t.counter("page cache filled: weights.gguf", 900, 101 * MIB);
  const locked = { ...t.slice("memory.lock", 300, 340, { ...t.map("weights.gguf", 0, 1).args, bytes: 100 * MIB, errno: 0 }), name: "mlock" };
  const found = result([
    t.read("weights.gguf", 0, 1, MIB),
    request(0, 300, { bytes: 101 * MIB }),
    t.map("weights.gguf", 0, 300, 100 * MIB),
    locked,
    t.map("warm.gguf", 400, 700, 100 * MIB),
    cold,
    t.counter("page cache filled: warm.gguf", 900, 4096),
  ]);
  assert.deepEqual(found.files[0]!.fills.map(({ call, calls, bytes, ns }) => [call, calls, bytes / MIB, ns / MS]), [
    ["mmap", 1, 100, 300],
    ["mlock", 1, 100, 40],
  ]);
  assert.deepEqual(found.verdict.map(({ wait, of, ns }) => [wait, of, ns / MS]), [["mappings", "weights.gguf", 340]]);
  const told = presentIo(found).flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
  assert.match(
    told,
    /calls that fill mappings of weights\.gguf: 34\.0 % .* mmap × 1, mlock × 1, which brought at most 100\.0 MiB from the disk\. A faster disk, .*quantisation/,
  );
  // Of which file a thread has all locked at once, nobody knows.
  const args = { kind: "mlockall", calls: 1, bytes: 0, ns: 500 * MS, failed: 0 };
  const [all] = result([{ ...t.exit(950), category: "memory.calls", args }, cold]).verdict;
  assert.deepEqual([all!.wait, all!.of, all!.ns / MS], ["mappings", "all its files", 500]);
  assert.match(all!.evidence, /^mlockall × 1, which brought at most 101\.0 MiB/);
});

Deno.test("io: what has not returned when counting ends has waited for so long, has done what came by then, and is nothing's absence", () => {
  const MIB = 1 << 20, { args } = t.map("weights.gguf", 0, 1);
  const brought = (file: string) => [t.counter(`page cache filled: ${file}`, 900, 8 * MIB), request(550, 600, { bytes: 8 * MIB })];
  const notes = (shown: IoResult) => presentIo(shown).flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
  const lock: Span = { ...t.slice("memory.lock", 100, 1000, { ...args, bytes: 1000 * MIB }, true), name: "mlock" };
  const locking = result([lock, ...brought("weights.gguf")]);
  assert.deepEqual(locking.files[0]!.fills, [{ call: "mlock", calls: 1, unreturned: 1, bytes: 0, ns: 900 * MS }]);
  assert.deepEqual(locking.verdict.map(({ wait, of, share }) => [wait, of, share]), [["mappings", "weights.gguf", 0.9]]);
  assert.deepEqual(locking.locks, { lockedBytes: 0, failures: [] });
  assert.match(
    notes(locking),
    /mlock × 1, which brought at most 8\.0 MiB from the disk; 1 call had not returned when counting ended\. A faster disk/,
  );
  assert.doesNotMatch(notes(locking), /Nothing waits|though reads/);
  const inMemory = notes(result([lock]));
  assert.match(
    inMemory,
    /A call that fills mappings of weights\.gguf had not returned when counting ended\. Nothing was seen to come from a disk for it\./,
  );
  assert.doesNotMatch(inMemory, /Nothing waits/);
  const reading = result([{ ...t.read("weights.gguf", 500, 1000, 0), open: true }, ...brought("weights.gguf")]);
  const [row] = reading.files, [thread] = reading.threads;
  assert.deepEqual([row!.reads, row!.readBytes, row!.readNs / MS, row!.unreturned, thread!.readNs / MS], [1, 0, 500, 1, 500]);
  assert.match(
    notes(reading),
    /Waits for reads of weights\.gguf: 50\.0 % .*, 1 read of 8\.0 MiB at 17 MB\/s, 8\.0 MiB of it from the disk; 1 call had not/,
  );
  assert.doesNotMatch(notes(reading), /Nothing waits|Little was seen/);
});

Deno.test("io: a request that is not answered when counting ends is told apart, and a disk that answers nothing is no disk that nothing is asked of", () => {
  const held = (start: number): Span => ({ ...request(start, 1000) as Slice, open: true });
  const found = result([held(200), held(600)]);
  const [disk] = found.devices, [thread] = found.threads;
  assert.deepEqual([disk!.requests, disk!.bytes, disk!.service.totalNs, disk!.meanInFlight, thread], [0, 0, 0, 1.2, undefined]);
  assert.deepEqual([disk!.unanswered, disk!.unansweredNs / MS], [2, 800]);
  const said = presentIo(found).flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
  assert.match(said, /2 reads of loop0 had not been answered when counting ended, the oldest of them for 800 ms\./);
  assert.match(said, /Disks read for it, though .*, by io_uring, or in what is not over\./);
  assert.doesNotMatch(said, /No disk answered|Nothing waits/);
  const table = presentIo(found).find((view) => view.type === "table" && view.title.startsWith("Requests to disks"));
  const column = table?.type === "table" ? table.columns.findIndex(({ title }) => title === "not answered") : -1;
  assert.deepEqual(table?.type === "table" && table.rows.map((row) => row[column]), [2]);
  // What is cut off as it comes is usual.
  assert.doesNotMatch(presentIo(result([request(0, 10), held(999)])).map((view) => view.type === "note" ? view.text : "").join(), /had not been/);
});

Deno.test("io: page faults that wait in no file wait for swap, where pages came back from it", () => {
  const faulted = [{ tid: t.tid, faults: 50, major: 40, majorNs: 400 * MS }];
  const faults: Span[] = [
    t.touch("weights.gguf", 100, 200, 9, { major: 4, majorNs: 100 * MS }),
    { ...t.exit(900), category: "memory.threads", faulted },
  ];
  const swapped: Span[] = [
    t.counter("available memory", 500, 1 << 20),
    t.counter("swapped out", 500, 64 << 20),
    ...[[1, 1000], [900, 1300]].map(([at, total]) => ({ ...t.counter("pages swapped in", at!, 0), total: total! })),
  ];
  const found = result([...faults, ...swapped]);
  assert.deepEqual(found.verdict.map(({ wait, of, ns }) => [wait, of, ns / MS]), [["swap", "swap", 300], ["page faults", "weights.gguf", 100]]);
  const told = presentIo(found).flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
  assert.match(
    told,
    /Waits for memory that comes back from swap: 30\.0 % .*, 36 page faults waited for it; 300 pages of all processes came back from swap/,
  );
  assert.deepEqual(result(faults).verdict.map(({ wait }) => wait), ["page faults"]);
});

Deno.test("io: a failed request is warned of", () => {
  const views = presentIo(result([request(0, 1, { error: 5 })]));
  assert.ok(views.some((view) => view.type === "note" && view.level === "warning" && view.text === "1 read of loop0 failed: see dmesg."));
});

Deno.test("io: what is asked for in a way that no file's reads have is said, processes added", () => {
  const track = t.tracks.process(t.pid);
  const by = (call: string, requests: number): Span => (
    { type: "instant", track, name: call, category: "file.untold", at: 900 * MS, args: { call, requests } }
  );
  const found = result([by("io_uring", 5), by("vmsplice", 1), by("io_uring", 4)]);
  assert.deepEqual(found.untold, [{ call: "io_uring", requests: 9 }, { call: "vmsplice", requests: 1 }]);
  const said = presentIo(found).flatMap((view) => view.type === "note" ? [view.text] : []).join(" ");
  assert.match(said, /made 9 requests by io_uring: .* made 1 request by vmsplice:/);
});
