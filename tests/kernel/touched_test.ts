/** Page faults in a model's file, of a program that counts its own and knows in which tensor each place lies. */
import assert from "node:assert/strict";
import { start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { query } from "../judge/trace_processor.ts";
import { built } from "../setup/programs.ts";
import { ggufHeader, tensorBytes } from "../workloads/gguf.ts";
import { dropFromCache } from "../workloads/pagecache.ts";
import { xorshift } from "../workloads/random.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { differingReplays } from "./replayed.ts";

/** The kernel maps what is in the cache around a fault, 64 KiB at most: each place lies in a piece of its own. */
const PIECE = 65536, PAGE = 4096;
const TOUCHED = 211;
/** Bytes of tensors, none of them a multiple of a page: the last is touched most. */
const TENSORS = [70_000, 1_300_032, 65_536, 2_000_000, 7_000_000, 64, 30_000_000].map((bytes, i) => ({ name: `blk.${i}.weight`, bytes }));

interface Model {
  readonly path: string;
  /** In the order of the file. */
  readonly tensors: readonly { readonly name: string; readonly from: number; readonly to: number }[];
}

/** What touched.c says at its end. */
interface Told {
  readonly minor: number;
  readonly major: number;
  readonly places: string;
}

function write(folder: Temporary, name: string, header: Uint8Array, sizes: readonly { readonly name: string; readonly bytes: number }[]): Model {
  const path = folder.file(name);
  let to = header.length;
  const tensors = sizes.map(({ name, bytes }) => ({ name, from: to, to: to += bytes }));
  const file = new Uint8Array(to).fill(7);
  file.set(header);
  // Page by page: what is written at once lies together in the cache, and is mapped at once.
  using out = Deno.openSync(path, { write: true, create: true });
  for (let at = 0; at < to;) at += out.writeSync(file.subarray(at, at + 4096));
  return { path, tensors };
}

function gguf(folder: Temporary): Model {
  const tensors = TENSORS.map(({ name, bytes }) => ({ name, extents: [Math.ceil(bytes / 32) * 8], type: "f32" } as const));
  const header = ggufHeader({ "general.architecture": { text: "none" } }, tensors);
  return write(folder, "touched.gguf", header, tensors.map((tensor) => ({ name: tensor.name, bytes: tensorBytes(tensor) })));
}

/** Named by its hash, as a hub's cache does. */
function safetensors(folder: Temporary): Model {
  let end = 0;
  const ranges = TENSORS.map(({ name, bytes }) => [name, { dtype: "U8", shape: [bytes], data_offsets: [end, end += bytes] }]);
  const json = new TextEncoder().encode(JSON.stringify({ __metadata__: { format: "pt" }, ...Object.fromEntries(ranges) }));
  const header = new Uint8Array(8 + json.length);
  new DataView(header.buffer).setBigUint64(0, BigInt(json.length), true);
  header.set(json, 8);
  return write(folder, "8f14e45fceea167a5a36dedd4bea2543", header, TENSORS);
}

/** Offsets, first in a row and then anyhow. */
function placesIn({ tensors }: Model): number[] {
  const random = xorshift(7);
  const places = Array.from({ length: Math.floor(tensors.at(-1)!.to / PIECE) }, (_, i) => i * PIECE + 3 * 4096 + 17);
  const first = places.splice(100, 101);
  const others = places.map((place) => ({ place, key: random() })).sort((a, b) => a.key - b.key).map(({ place }) => place);
  return [...first, ...others].slice(0, TOUCHED);
}

/** Each page of a tensor, at its first and its last byte too, and of two more before and behind it. */
function pagesOf({ from, to }: Model["tensors"][number]): number[] {
  const first = Math.floor(from / PAGE) - 2, last = Math.floor(to / PAGE) + 2;
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const page = (first + i) * PAGE;
    return page < from && page + PAGE > from ? from : page < to && page + PAGE > to ? to - 1 : page;
  });
}

/** By tensor: faults at places in it, and those of them that were major. */
function expected({ tensors }: Model, places: readonly number[], { places: kinds }: Told): string[] {
  const rows = [{ name: "(header)", from: 0, to: tensors[0]!.from }, ...tensors].map(({ name, from, to }) => {
    const inside = places.flatMap((place, i) => place >= from && place < to && kinds[i] !== "-" ? [kinds[i]] : []);
    return { name, faults: inside.length, major: inside.filter((kind) => kind === "M").length };
  });
  return rows.filter(({ faults }) => faults > 0).map(({ name, faults, major }) => `${name}: ${faults}, ${major} of disk`).sort();
}

for (
  const [index, { make, isRunning, isCold }] of [
    { make: gguf, isRunning: false, isCold: true },
    { make: safetensors, isRunning: true, isCold: true },
    { make: gguf, isRunning: true, isCold: false },
    { make: safetensors, isRunning: false, isCold: false },
  ].entries()
) {
  const how = `${make.name}, ${isRunning ? "attached to" : "started"}, ${isCold ? "from the disk" : "in the page cache"}`;
  sampledTest(index, `io: page faults and their tensors are those that the program counts (${how})`, { judge: true }, async ({ path }) => {
    using folder = temporary();
    const model = make(folder);
    // From the disk most pages come by themselves.
    const places = [...placesIn(model), ...isCold ? pagesOf(model.tensors[3]!) : []];
    Deno.writeFileSync(folder.file("places"), new Uint8Array(BigUint64Array.from(places.map(BigInt)).buffer));
    if (isCold) assert.equal(await dropFromCache(model.path), 0);
    const argv = [built.touched, model.path, folder.file("places")];
    const run = isRunning ? attached : started;
    const { told, ended } = await run(folder, path, argv);
    const { result, events } = summaryOf("io", ended);
    // Of answers of a disk the kernel may skip some; faults are none of them, or figures would differ.
    assert.deepEqual([events.lost, events.received], [events.skipped, events.emitted - events.skipped!]);
    const faults = [...told.places].filter((kind) => kind !== "-").length, apart = places.length - TOUCHED;
    assert.deepEqual([told.minor + told.major, told.major > 0], [faults, isCold]);
    assert.ok(faults >= TOUCHED + 0.5 * apart && faults <= places.length, `${faults} faults at ${places.length} places`);
    const name = model.path.slice(model.path.lastIndexOf("/") + 1);
    const file = result.files.find(({ file }) => file === name)!;
    assert.deepEqual([file.faults, file.major], [faults, told.major]);
    if (!isRunning) assert.equal(file.mappedBytes, Deno.statSync(model.path).size);
    // It has ended, so each of its faults was told.
    assert.equal(result.threads.reduce((sum, { faults }) => sum + faults, 0), result.pageFaults);
    const [thread] = result.threads;
    assert.ok(thread!.name === "touched" || isRunning, thread!.name);
    assert.ok(thread!.faults >= faults && thread!.major >= told.major && thread!.majorNs >= file.majorNs, JSON.stringify(thread));
    const rows = result.tensors.filter(({ file }) => file === name);
    const found = rows.map(({ tensor, faults, major }) => `${tensor ?? "(header)"}: ${faults}, ${major} of disk`).sort();
    assert.deepEqual(found, expected(model, places, told));
    assert.equal(rows.reduce((sum, { majorNs }) => sum + majorNs, 0), file.majorNs);
    const sql = `select sum(case when a.flat_key = 'debug.faults' then a.int_value end) as faults,
      sum(case when a.flat_key = 'debug.major' then a.int_value end) as major
      from slice s join args a using (arg_set_id) where s.category = 'memory.touch' and s.name = 'fault in ${name}'`;
    const [trace] = await query(outputPath(folder, "pftrace"), sql);
    assert.deepEqual([Number(trace!.faults), Number(trace!.major ?? 0)], [faults, told.major]);
    assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
  }, index > 1);
}

const lastLine = (text: string): Told => JSON.parse(text.split("\n").findLast((line) => line.startsWith('{"minor"'))!);

async function started(folder: Temporary, bpftrace: string, argv: readonly string[]) {
  await using llmprof = startLlmprof("io", { bpftrace, folder, target: { argv }, formats: allFormats });
  const ended = await llmprof.finished();
  return { told: lastLine(ended.stderr), ended };
}

async function attached(folder: Temporary, bpftrace: string, argv: readonly string[]) {
  await using program = start([...argv, folder.file("go")]);
  await program.saw("mapped");
  await using llmprof = startLlmprof("io", { bpftrace, folder, target: { pid: program.pid }, formats: allFormats });
  await llmprof.saw("Tracing");
  Deno.writeTextFileSync(folder.file("go"), "");
  const told = lastLine((await program.finished()).stderr);
  return { told, ended: await llmprof.finished() };
}
