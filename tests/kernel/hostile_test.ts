/** Names of others, for real: what a process opens, runs, loads and calls itself arrives as it is, and does nothing. */
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { mustRun, run, start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { asFileName, hostileNames } from "../hostile/corpus.ts";
import { errors, query } from "../judge/trace_processor.ts";
import { unpacked } from "../judge/unpacked.ts";
import { built } from "../setup/programs.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "./live_run.ts";

const needs = { gcc: true, judge: true };
const libraries = 3;
const size = 23;

/** Each name once, as a file of a folder may be called. */
const names = [...new Map(hostileNames().map(asFileName).map((name) => [name.join(), name])).values()];
const texts = hostileNames().map((name) => new TextDecoder().decode(name)).filter((text) => !text.includes("\0"));

interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly argv: readonly string[];
}

/** Traces the hostile target, which is itself called by hostile names, with hostile arguments. */
async function trace(bpftrace: string, folder: Temporary, flags: readonly string[]): Promise<Ran> {
  const canary = folder.file("canary");
  Deno.mkdirSync(folder.file("names"));
  const bytes = names.flatMap((name) => [...name, 0]);
  Deno.writeFileSync(folder.file("list"), new Uint8Array(bytes));
  const program = folder.file(`"; system("touch CANARY"); %s \n @*{}é`.replaceAll("/", "_"));
  Deno.copyFileSync(built.hostile, program);
  const argv = [program, ...texts.map((text) => text.replaceAll("CANARY", canary))];
  const env = {
    HOSTILE_NAMES: folder.file("list"),
    HOSTILE_FOLDER: folder.file("names"),
    HOSTILE_LIBRARY: built.libllamaStub,
    HOSTILE_LIBRARIES: String(libraries),
  };
  const outputs = allFormats.flatMap((format) => ["-o", outputPath(folder, format)]);
  const command = [...llmprof, "coldstart", "--bpftrace", bpftrace, ...outputs, ...flags, "--", ...argv];
  const { code, stdout, stderr } = await run(command, { cwd: folder.path, env });
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, /ended with/, "the target did all it was to do");
  for (const place of [canary, folder.file("CANARY"), folder.file("names/CANARY")]) {
    assert.throws(() => Deno.lstatSync(place), Deno.errors.NotFound, "nothing was run");
  }
  return { stdout, stderr, argv };
}

/** The bytes that a shown text stands for, where not all of them were UTF-8. */
function spelledBytes(shown: string): number[] {
  return [...shown.matchAll(/\\x([0-9a-f]{2})|[^]/gu)].flatMap(([all, hex]) =>
    hex === undefined ? [...new TextEncoder().encode(all)] : [parseInt(hex, 16)]
  );
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** That a name is shown as it is; or, when a record cannot hold it, as its beginning, and is marked so. */
function assertIntact(shown: string, name: Uint8Array, limit: number): void {
  const cut = name.length >= limit;
  const [told, bytes] = cut ? [shown.replace(/…$/, ""), name.subarray(0, limit)] : [shown, name];
  if (cut) assert.ok(shown.endsWith("…"), `${JSON.stringify(shown)} is marked`);
  if (isUtf8(bytes) && !cut) return assert.equal(told, new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  const found = isUtf8(name) ? [...new TextEncoder().encode(told)] : spelledBytes(told);
  assert.deepEqual(found, [...bytes.subarray(0, found.length)], JSON.stringify(shown));
  assert.ok(found.length > bytes.length - 4, "at most half a character is missing");
}

interface Line {
  readonly facts?: { readonly target: string };
  readonly type: string;
  readonly name: string;
  readonly category?: string;
  readonly at?: string;
  readonly args?: { readonly file?: string; readonly bytes?: number };
  readonly track?: { readonly kind: string; readonly pid: number; readonly tid?: number };
}

function lines(path: string): Line[] {
  return Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => JSON.parse(line));
}

sampledTest(
  0,
  "hostile names arrive as they are in every format, steer no terminal, and nothing of them is run",
  needs,
  async ({ path: bpftrace }) => {
    using folder = temporary();
    const { stdout, stderr, argv } = await trace(bpftrace, folder, []);
    const recorded = await mustRun([...llmprof, "export", outputPath(folder, "llmprof"), "--no-output", "--summary", "json"]);
    assert.deepEqual(JSON.parse(recorded.stdout).target.argv, argv);
    const all = lines(outputPath(folder, "jsonl"));
    assert.equal(all[0]!.facts!.target, argv.join(" "));
    const opened = all.filter(({ category, args }) => category === "file.read" && args?.bytes === size).map(({ args }) => args!.file!);
    assert.equal(opened.length, names.length);
    opened.forEach((file, i) => assertIntact(file, names[i]!, 64));
    const threads = all.filter(({ type, track }) => type === "name" && track?.kind === "thread" && track.tid !== track.pid).map(({ name }) => name);
    assert.equal(threads.length, names.length);
    threads.forEach((thread, i) => {
      const comm = names[i]!.subarray(0, 15);
      if (isUtf8(comm)) assert.equal(thread, new TextDecoder("utf-8", { ignoreBOM: true }).decode(comm));
      else assert.deepEqual(spelledBytes(thread), [...comm]);
    });
    assert.equal(all.filter(({ category }) => category === "llama.decode").length, libraries, "its libraries are attached under any name");
    // The other formats tell the same names in the same order.
    const read = opened.map((file) => `read ${file}`);
    const chrome: { traceEvents: { cat?: string; name: string; ts: number; args?: { bytes?: number } }[] } = JSON.parse(
      Deno.readTextFileSync(outputPath(folder, "json")),
    );
    const slices = chrome.traceEvents.filter(({ cat, args }) => cat === "file.read" && args?.bytes === size).sort((a, b) => a.ts - b.ts);
    assert.deepEqual(slices.map(({ name }) => name), read);
    for (const format of ["pftrace", "json"]) {
      assert.deepEqual(await errors(outputPath(folder, format)), []);
      const sql =
        `select s.name from slice s join args a using (arg_set_id) where s.category = 'file.read' and a.flat_key in ('debug.bytes', 'args.bytes')
      and a.int_value = ${size} order by s.ts`;
      assert.deepEqual((await query(outputPath(folder, format), sql)).map(({ name }) => name), read, format);
    }
    assert.doesNotMatch(stdout + stderr, /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, "what is printed steers no terminal");
  },
);

sampledTest(
  2,
  "of a running target arguments arrive as they are, and bytes that are no UTF-8 are spelled",
  {},
  async ({ path: bpftrace }) => {
    using folder = temporary();
    const words = texts.map((text) => text.replaceAll("CANARY", "canary"));
    const waits = "echo ready; for i in $(seq 1500); do sleep 0.1; done";
    await using target = start(["sh", "-c", `exec sh -c "$0" "$(printf 'a\\377b\\303')" "$@"`, waits, ...words], { cwd: folder.path });
    await target.saw("ready");
    const formats = ["jsonl", "llmprof"];
    const flags = ["--duration", "0.3s"];
    await using tracer = startLlmprof("sched", { bpftrace, folder, flags, target: { pid: target.pid }, formats });
    const summary = summaryOf("sched", await tracer.finished());
    const argv = ["sh", "-c", waits, "a\\xffb\\xc3", ...words];
    assert.deepEqual(summary.target?.argv, argv);
    assert.equal(lines(outputPath(folder, "jsonl"))[0]!.facts!.target, argv.join(" "));
    assert.throws(() => Deno.lstatSync(folder.file("canary")), Deno.errors.NotFound, "nothing was run");
  },
);

sampledTest(
  1,
  "--redact: nothing secret is in the recording, the traces or what is printed, and everything else is",
  needs,
  async ({ path: bpftrace }) => {
    using folder = temporary();
    const { stdout, stderr, argv } = await trace(bpftrace, folder, ["--redact", "--summary", "json", "-o", folder.file("more.jsonl.gz")]);
    const recording = [...Deno.readDirSync(outputPath(folder, "llmprof"))].map(({ name }) => `${outputPath(folder, "llmprof")}/${name}`);
    const files = [...["json", "jsonl"].map((format) => outputPath(folder, format)), ...recording].map((path) => Deno.readFileSync(path));
    files.push(new Uint8Array(unpacked(Deno.readFileSync(outputPath(folder, "pftrace")))));
    files.push(new Uint8Array(gunzipSync(Deno.readFileSync(folder.file("more.jsonl.gz")))));
    const secrets = [
      "twenty",
      "HOSTILE_",
      'system("',
      folder.path,
      "z".repeat(50),
      "w".repeat(50),
      argv[0]!.slice(folder.path.length + 1),
      "libc.so",
      "hostile",
    ];
    for (const secret of secrets) {
      const hex = [...new TextEncoder().encode(secret)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
      for (const bytes of files) {
        const text = new TextDecoder().decode(bytes);
        assert.ok(!text.includes(secret) && !text.includes(hex), `${secret} in a file`);
      }
      assert.ok(!stdout.includes(secret), `${secret} in the summary`);
      assert.ok(!stderr.split("\n").filter((line) => !line.startsWith("Wrote ")).join().includes(secret), `${secret} on stderr`);
    }
    const { events } = JSON.parse(stdout);
    assert.deepEqual([events.received, events.lost, events.undecodable], [events.emitted, 0, 0]);
    const all = lines(outputPath(folder, "jsonl"));
    const opened = all.filter(({ category, args }) => category === "file.read" && args?.bytes === size).map(({ args }) => args!.file!);
    assert.equal(opened.length, names.length);
    assert.ok(new Set(opened).size > names.length - 5, "one pseudonym for each name that differs in what a record holds of it");
    assert.equal(all.filter(({ category }) => category === "llama.decode").length, libraries);
  },
);
