/** `--redact`: what is secret is in nothing that leaves, and everything else stays as it was. */
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { demoFolder } from "../cli/demo_recording.ts";
import { runLlmprof } from "../cli/llmprof.ts";
import { Decoding } from "../harness/decoding.ts";
import { main, preempted, result, shut } from "../harness/sched_spans.ts";
import { temporary } from "../harness/temporary.ts";
import { samples } from "../../probes/ggml/samples.ts";
import { Stacks } from "../../probes/process/stack.ts";
import { fromWithout } from "../../lib/analysis/frames.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { Header } from "../../lib/timeline/header.ts";
import { redacting } from "../../lib/commands/redacting.ts";
import { isWeights } from "../../lib/target/inference_files.ts";
import { Pseudonyms } from "../../lib/timeline/pseudonyms.ts";
import { RecordingFolder } from "../../lib/timeline/recording_source.ts";
import { unpacked } from "../judge/unpacked.ts";
import { MemoryRecording } from "./memory_recording.ts";

const names = ["t.pftrace", "t.json", "t.jsonl", "t.jsonl.gz"];

/** Texts in a file, also as the hexadecimal bytes of a recording's lines. */
function holds(bytes: Uint8Array, secret: string): boolean {
  const text = new TextDecoder().decode(bytes);
  const hex = [...new TextEncoder().encode(secret)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return text.includes(secret) || text.includes(hex);
}

Deno.test("redact: an existing recording tells no argument and no file outside the model; its counts stay", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path);
  const exported = async (i: number, flags: readonly string[]) => {
    const outputs = names.flatMap((name) => ["-o", folder.file(`${i}-${name}`)]);
    const { code, stdout, stderr } = await runLlmprof(["export", path, ...outputs, ...flags, "--summary", "json"]);
    assert.equal(code, 0, stderr);
    return { events: JSON.parse(stdout).events, stdout, stderr };
  };
  const [plain, redacted] = [await exported(0, []), await exported(1, ["--redact"])];
  const secrets = ["engine.mjs", "/opt/llmprof", "--prompt", "libc.so", "llama-addon.node", "package.json", "/usr/bin/bpftrace", folder.path];
  const bytesOf = (i: number, name: string) => {
    const bytes = Deno.readFileSync(folder.file(`${i}-${name}`));
    if (name.endsWith(".pftrace")) return unpacked(bytes);
    return name.endsWith(".gz") ? new Uint8Array(gunzipSync(bytes)) : bytes;
  };
  for (const secret of secrets) {
    assert.ok(names.some((name) => holds(bytesOf(0, name), secret)) || plain.stdout.includes(secret), `${secret} is there without --redact`);
    for (const name of names) assert.ok(!holds(bytesOf(1, name), secret), `${secret} in ${name}`);
    assert.ok(!(redacted.stdout + redacted.stderr).includes(secret), `${secret} in what is printed`);
  }
  for (const kept of ["small.gguf", "libllama.", "libggml-cpu", "MUL_MAT", "ffn_gate-0"]) {
    for (const name of names.slice(0, 3)) assert.ok(holds(bytesOf(1, name), kept), `${kept} stays in ${name}`);
  }
  assert.deepEqual(redacted.events, plain.events);
  const categories = (i: number) => {
    const counts = new Map<string, number>();
    for (const line of new TextDecoder().decode(bytesOf(i, "t.jsonl")).trimEnd().split("\n")) {
      const { type, category = "", start, end, at } = JSON.parse(line);
      const key = type === "view" ? type : `${type} ${category} ${start} ${end} ${at}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  };
  assert.deepEqual(categories(1), categories(0), "every span is there, of its kind and at its time");
});

Deno.test("redact: a broken recording has as many lines that cannot be read as without, and none of them is told", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path);
  const secret = "geheimnis";
  const hex = [...new TextEncoder().encode(secret)].map((byte) => byte.toString(16)).join(" ");
  const lines = [
    secret,
    `@n: ${secret}`,
    `@x[${secret}]: ${secret}`,
    `(9, ${secret})`,
    `10 5 5 ${hex}`,
    `11 ${secret} 5 5`,
    `12 99 1 ${hex} zz`,
    `Lost 3 events ${secret}`,
    `999 1 1 ${hex}`,
  ];
  for (const stream of MemoryRecording.copy(new RecordingFolder(path)).streams()) {
    Deno.writeTextFileSync(`${path}/${stream}.lines`, `${lines.join("\n")}\n${hex}`, { append: true });
  }
  const [plain, redacted] = await Promise.all(
    [[], ["--redact"]].map((flags) => runLlmprof(["export", path, "-o", folder.file(`${flags.length}.jsonl`), "--summary", "json", ...flags])),
  );
  const undecodable = (stdout: string) => JSON.parse(stdout).events.undecodable;
  assert.ok(undecodable(plain!.stdout) >= 5 * 5);
  assert.equal(undecodable(redacted!.stdout), undecodable(plain!.stdout));
  assert.ok(holds(Deno.readFileSync(folder.file("0.jsonl")), secret));
  assert.ok(!holds(Deno.readFileSync(folder.file("1.jsonl")), secret) && !redacted!.stdout.includes(secret) && !redacted!.stderr.includes(secret));
});

Deno.test("redact: what goes wrong is told without the words of the command line", async () => {
  using folder = temporary();
  const secret = folder.file("geheimnis");
  for (
    const args of [
      ["export", `${secret}.llmprof`],
      ["operators", "--from", `${secret}.llmprof`],
      ["coldstart", "--", secret, "--password", "geheimnis"],
      ["export", `${secret}.llmprof`, "--verbose"],
      ["operators", "--comm", "geheimnis", "--no-output"],
      ["operators", "--pid", "1", "-o", "geheimnis/a.json"],
      ["coldstart", "--", "./geheimnis/srv"],
      ["coldstart", "--", folder.file("a folder/geheimnis/srv")],
      ["export", folder.file("a folder/geheimnis.llmprof")],
      // What is found before a command begins.
      ["operators", "--duration", "geheimnis"],
      ["operators", "geheimnis/srv", "--prompt=geheimnis"],
      ["operators", "-ogeheimnis.json", "--no-output"],
      ["export", "a.llmprof", "geheimnis"],
    ]
  ) {
    const end = args.indexOf("--") < 0 ? args.length : args.indexOf("--");
    const { code, stdout, stderr } = await runLlmprof([...args.slice(0, end), "--redact", ...args.slice(end)], { cwd: folder.path });
    assert.ok(code !== 0 && stderr.length > 20);
    assert.ok(!(stdout + stderr).includes("geheimnis"), stderr);
  }
});

Deno.test("redact: what goes wrong while nobody waits is told in the same words as what somebody waits for", async () => {
  let told: unknown;
  const retellFailures = (retell: (error: unknown) => unknown) => told = retell(new Error("/a b/geheim/srv: no space left"));
  await redacting(true, ["/a b/geheim/srv"], [], { retellFailures }, () => Promise.resolve(0));
  assert.equal((told as Error).message, "path-1: no space left");
});

Deno.test("redact: a note hides the program that an engine is linked into, which nothing else has named, and no engine's library", () => {
  const note = (name: string) => ({ fact: "note", text: `not seen: waits (${name} does not name ggml_barrier)`, files: [name] }) as const;
  const pseudonyms = new Pseudonyms();
  const text = "not seen: waits (path-1 does not name ggml_barrier)";
  assert.deepEqual(pseudonyms.fact(note("geheim-srv")), { fact: "note", text, files: ["path-1"] });
  assert.deepEqual(pseudonyms.fact(note("libggml.so")), note("libggml.so"));
});

Deno.test("redact: a note hides what other processes call themselves, which nothing else has named", () => {
  const told = (name: string): Fact => ({ fact: "note", text: `process 7 (${name}) has libggml.so mapped`, files: ["libggml.so"], names: [name] });
  assert.deepEqual(new Pseudonyms().fact(told("geheim srv")), told("name-1"));
  assert.deepEqual(new Pseudonyms().fact(told("irq/1-geheim")), told("irq/1"));
  // Of a recording that does not say which words these are.
  const before = (...names: string[]): Fact => ({
    fact: "note",
    text: `processes 7 (${names[0]}), 8 (${names[1]}) and 1 more have the same libggml.so mapped: they are trapped, too, and do not count`,
    files: ["libggml.so"],
  });
  assert.deepEqual(new Pseudonyms().fact(before("geheim srv", "geheim (x)")), before("name-1", "name-2"));
});

Deno.test("redact: of a command line the names of models stay, and no argument that only ends as one does", () => {
  const argv = (...words: string[]) => new Pseudonyms().argv(["sh", ...words]).slice(1);
  assert.deepEqual(argv("m.gguf", "/a/b/m-1.Q4_K_M.gguf", "--model=/a/n.gguf", "--model=n.gguf"), ["m.gguf", "m-1.Q4_K_M.gguf", "n.gguf", "n.gguf"]);
  const told = ["llama-cli -p 'geheim' -m model.gguf", "geheim /a/m.gguf", "--prompt=geheim -m=m.gguf", "geheim;m=m.gguf", "'geheim'm.gguf"];
  assert.deepEqual(argv(...told), ["argument-1", "argument-2", "argument-3", "argument-4", "argument-5"]);
});

Deno.test("redact: a model keeps its name, whatever file it is in, and a key of as many digits is an argument", () => {
  const number = "0a".repeat(32), pseudonyms = new Pseudonyms();
  const model = (name: string) => {
    const fact = { fact: "engine", engine: null, version: null, model: name, quantisation: null, threads: null, affinity: null } as const;
    return (pseudonyms.fact(fact) as typeof fact).model;
  };
  assert.deepEqual(["Qwen3-8B-GGUF", "m 1.gguf", "geheim text"].map(model), ["Qwen3-8B-GGUF", "m 1.gguf", "path-1"]);
  assert.equal(pseudonyms.path(`/hub/models--a--b/blobs/${number}`), number);
  // A session's, a container's: what says that it is a model's is not told.
  assert.deepEqual([number, `/run/sessions/${number}`, `${number}…`].map((path) => new Pseudonyms().path(path)), ["path-1", "path-1", "path-1"]);
  assert.deepEqual(pseudonyms.argv(["vllm", "--api-key", number, `--api-key=${number}`]).slice(1), ["argument-1", "argument-2", "argument-3"]);
});

Deno.test("redact: files in which Python finds packages are told as what they may be, weights, without the names of projects", () => {
  const names = new Pseudonyms(), files = ["/venv/__editable__.geheim-1.0.pth", "/srv/a.PTH", "/srv/a.pt"];
  assert.deepEqual(files.map((path) => names.path(path)), ["path-1.pth", "path-2.PTH", "a.pt"]);
  const argv = names.argv(["serve", "/srv/geheim.pth", "--model=/srv/geheim.pth"]);
  assert.deepEqual(argv, ["path-3", "path-4.pth", "path-4.pth"]);
  const engine = { fact: "engine", engine: null, version: null, model: "geheim.pth", quantisation: null, threads: null, affinity: null } as const;
  assert.deepEqual(names.fact(engine), { ...engine, model: "path-4.pth" });
  assert.ok(isWeights("path-1.pth"));
});

Deno.test("redact: where a process has its code is told without the names of its own files", () => {
  const functions = [{ at: 16, bytes: 8, name: "ggml_vec_dot_f16" }];
  const files = ["node", "geheimnis.so.1", "libggml-cpu-haswell.so", ""];
  const fact = { fact: "code", pid: 1, ranges: files.map((file, i) => ({ at: i, bytes: 1, file })), functions } as const;
  const told = new Pseudonyms().fact(fact) as typeof fact;
  assert.deepEqual(told.ranges.map(({ file }) => file), ["path-1", "path-2.so", "libggml-cpu-haswell.so", ""]);
  assert.deepEqual(told.functions, functions);
});

Deno.test("redact: what is known by names of the system is known all the same: a barrier, frames, who took a processor, a GPU's node", () => {
  const names = new Pseudonyms();
  const codeOf = (file: string): Fact => ({ fact: "code", pid: 100, ranges: [{ at: 4096, bytes: 16, file }], functions: [] });
  const sampled = (fact: Fact) => {
    const decoding = new Decoding(samples);
    decoding.fact(0, fact);
    decoding.event(1, "ggml/samples.sample", { ip: 4096 });
    return decoding.told();
  };
  for (const code of ["libgomp.so.1", "libgomp-a34b3233.so.1.0.0"].map(codeOf)) assert.deepEqual(sampled(names.fact(code)), sampled(code));
  const files = ["libcuda.so.1", "[uprobes]", "libcublas.so.12", "libllama.so"];
  const places: Fact = { fact: "places", pid: 7, places: files.map((file, i) => ({ at: i + 1, file, name: "f", offset: 0 })) };
  const framed = (fact: Fact) => {
    const stacks = new Stacks(), of = { at: 0, stream: "process", record: "sched/switch.frame", pid: 7, tid: 7 };
    for (let depth = 0; depth < files.length; depth++) stacks.frame({ ...of, values: [99, depth, depth + 1] });
    stacks.fact(fact);
    return fromWithout([...stacks.told()][0]!.frames);
  };
  assert.deepEqual(framed(places), ["f (libcublas.so.12)", "f (libllama.so)"]);
  assert.deepEqual(framed(names.fact(places)), framed(places));
  const verdictOf = (name: string) =>
    result([shut(0, true), preempted(main, 10, 60, { taker: { tid: 5, name, traces: false } }), shut(100, false)]).verdict;
  assert.match(verdictOf(names.name("geheim"))[0]!.evidence, /name-1 \(5\) took one/);
  assert.deepEqual(verdictOf(names.name("kworker/0:1")), verdictOf("kworker/0:1"));
  assert.deepEqual(["/dev/nvidia0", "/dev/dri/renderD128", "/srv/nvidia0"].map((path) => names.path(path)), ["nvidia0", "renderD128", "path-1"]);
});

Deno.test("redact: how much was looked at, and of which engine, stays, whatever the target's arguments are, and is no place to hide a text", () => {
  const header = (options: Header["options"]) => ({
    options,
    host: {},
    bpftrace: null,
    target: { pid: 1, argv: ["/bin/x", "graph"], started: true },
  });
  const redacted = (options: Header["options"]) => {
    const pseudonyms = new Pseudonyms();
    pseudonyms.argv(["/bin/x", "graph", "torch"]);
    return pseudonyms.header(header(options) as unknown as Header).options;
  };
  assert.deepEqual(redacted({ detail: "graph", other: "graph" }), { detail: "graph", other: "argument-1", redact: true });
  assert.deepEqual(redacted({ detail: "geheimnis" }), { detail: "op", redact: true });
  assert.deepEqual(redacted({ engine: "torch" }), { engine: "torch", redact: true });
  assert.deepEqual(redacted({ engine: "geheimnis" }), { engine: "ggml", redact: true });
  assert.deepEqual(redacted({}), { redact: true });
});

Deno.test("redact: a file that a sentence names with its folders and without has one name in it, also at a sentence's end", () => {
  const told = (text: string) => new Pseudonyms().prose(text);
  assert.equal(told("cannot read /home/x/geheim-app: geheim-app is no ELF"), "cannot read path-1: path-1 is no ELF");
  assert.equal(told("Cannot read /home/x/geheim-app. geheim-app is no ELF."), "Cannot read path-1. path-1 is no ELF.");
});

Deno.test("redact: a path with blanks is hidden to its end, in quotes and in a folder that is known", () => {
  const names = new Pseudonyms();
  for (const known of ["/home/jo e", "it's geheim", "my folder/srv"]) names.name(known);
  const told = {
    "Run: chmod +x '/opt/My Project/geheim'": "Run: chmod +x 'path-1'",
    [`cp '/opt/it'\\''s geheim/a b' "/x/a b/c"`]: `cp 'path-2' "path-3"`,
    "Cannot write /home/jo e/geheim/a.json. Choose another.": "Cannot write path-4. Choose another.",
    "/home/jo e is full": "path-5 is full",
    "sudo llmprof coldstart -- 'it'\\''s geheim'": "sudo llmprof coldstart -- 'name-2'",
    "/opt/my folder/srv, my folder/srv": "path-6, path-6",
  };
  for (const [text, hidden] of Object.entries(told)) assert.equal(names.prose(text), hidden);
});

Deno.test("redact: what is known is hidden where it is a word of its own, however short, and leaves other words as they are", () => {
  const names = new Pseudonyms();
  names.argv(["ollama", "run", "-n", "8", "王芳", "jo", "to"]);
  const text = "ollama asks 王芳 and jo to run: -n 8, running, joined";
  assert.equal(names.prose(text), "path-1.client asks argument-4 and argument-5 to argument-1: -n 8, running, joined");
  // Where a quote is not closed, there are many ways to read what is behind it.
  assert.match(names.prose(`"/${"'\\''".repeat(40)} is not closed`), /is not closed$/);
});
