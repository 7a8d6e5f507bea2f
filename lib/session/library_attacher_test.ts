import assert from "node:assert/strict";
import { capable, FakeProc } from "../../tests/harness/fake_machine.ts";
import { makeElf } from "../../tests/harness/elf.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { backends } from "../../probes/ggml/backends.ts";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { calls as gpuCalls } from "../../probes/gpu/calls.ts";
import { calls } from "../../probes/llama/calls.ts";
import { DISPATCHED } from "../../probes/torch/library.ts";
import { ops as torchOps } from "../../probes/torch/ops.ts";
import type { BpftraceFeatures } from "../machine/bpftrace.ts";
import type { Fact } from "../events/fact.ts";
import { LibraryAttacher } from "./library_attacher.ts";
import type { Probe } from "../programs/probe.ts";
import type { ProgramPart } from "./program_part.ts";
import { whyMissing } from "./why_missing.ts";
import { gatePrefixes, groupByLibrary } from "./library_groups.ts";
import type { Means } from "./means.ts";

const LINEAR = "_ZN2at4_ops6linear4callERKNS_6TensorES4_RKN3c108optionalIS2_EE";
// endbr64; push %rbp: behind the first instruction a probe is ten times cheaper.
const guarded = "f3 0f 1e fa 55";
const libllama = makeElf({ llama_decode: guarded, llama_init_from_model: "55", llama_load_model_from_file: "48 83 ec 08" });
const libggml = makeElf({ ggml_graph_compute: guarded, ggml_cpu_extra_compute_forward: "0f 1f 44 00 00" });

/** `attach`: what becomes of a program that is to be attached. */
function attacher(
  root: string,
  features: Partial<BpftraceFeatures> = {},
  attach: () => Promise<void> = () => Promise.resolve(),
  probes: readonly Probe[] = [calls, graph, ops],
  kernel = "6.18.44",
) {
  const proc = new FakeProc(root);
  const started: string[] = [];
  const facts: Fact[] = [];
  const attached: string[] = [];
  const laidOut: string[] = [];
  const machine = capable();
  const bpftrace = { ...machine.bpftrace!, features: { ...machine.bpftrace!.features, ...features } };
  const means = { files: proc.files, machine: { ...machine, kernel, bpftrace } } as unknown as Means;
  const start = (parts: readonly ProgramPart[]) => {
    for (const { stream, probes, sites, offsets } of parts) {
      attached.push(...[...sites.values()].flat().map(({ attach }) => attach));
      const labels = [...new Set([...sites.values()].flat().map(({ label, cost }) => `${label} ${cost}`))];
      if (offsets!.size > 0) laidOut.push([...offsets!].join(" "));
      started.push(`${stream}: ${probes.map(({ name }) => name).join(" ")}`, ...labels.map((label) => `  ${label}`));
    }
    return attach();
  };
  const letThrow = (_: unknown, pids: readonly number[], shared: ReadonlyMap<string, string>) => {
    started.push(`exceptions of ${pids} and whoever has ${[...shared.values()]}`);
    return Promise.resolve();
  };
  const libraries = new LibraryAttacher(means, groupByLibrary(probes), start, (fact) => void facts.push(fact), letThrow);
  /** What a run does to processes that it finds: returns the streams of the groups for which there was nothing. */
  const atStart = async (pids: readonly number[], patient: boolean, isTogether = false) => {
    const present = await libraries.present(pids, patient);
    await libraries.attach(present, isTogether ? start : undefined);
    return present.missing;
  };
  proc.process(100, 1, "node");
  proc.process(200, 100, "node");
  return { proc, started, attached, laidOut, facts, libraries, atStart };
}

Deno.test("library attacher: at the mapping what may be attached is, at its cheapest place, with the gate for the rest", async () => {
  using root = temporary();
  const { proc, started, libraries } = attacher(root.path);
  assert.deepEqual(gatePrefixes(libraries.groups), ["libllama.", "libggml-base"]);
  proc.map(100, "/opt/libllama.so", 5, libllama);
  proc.map(100, "/opt/libggml-cpu-haswell.so", 6, libggml);
  await libraries.atMapping(100);
  assert.deepEqual(started, [
    "llama: llama/calls gate/call",
    "  libllama.so:llama_load_model_from_file shared with its return",
    "  return of libllama.so:llama_load_model_from_file stepped and back",
    "  libllama.so:llama_init_from_model shared with its return",
    "  return of libllama.so:llama_init_from_model emulated and back",
    "  libllama.so:llama_decode+4 shared with its return",
    "  return of libllama.so:llama_decode emulated and back",
  ]);
  assert.deepEqual([...libraries.watched.values()], ["libllama.so"]);
});

Deno.test("library attacher: where the kernel would kill a filtered process at a return, nothing is attached to one, and it is told why", async () => {
  using root = temporary();
  const kernels = [["6.12.0-55.el10", 2, true], ["6.12.5", 2, true], ["6.12.0-55.el10", 0, false], ["6.18.44", 2, false]] as const;
  for (const [kernel, seccomp, refused] of kernels) {
    const { proc, started, libraries, atStart } = attacher(root.path, {}, undefined, [calls], kernel);
    proc.map(200, "/opt/libllama.so", 5, libllama);
    Deno.writeTextFileSync(root.file("proc/200/status"), `Name:\tnode\nSeccomp:\t${seccomp}\nSeccomp_filters:\t1\n`);
    for (const attach of [() => atStart([100, 200], false), () => libraries.atMapping(200)]) {
      if (refused) {
        // What Red Hat has mended since is not to be seen.
        const [how, why] = kernel === "6.12.5"
          ? ["would", /^Linux 6\.12\.5 kills .* fails its call\.$/] as const
          : ["might", /unless its distribution/];
        await assert.rejects(attach, { what: new RegExp(`^Process 200 has a filter .* ${how} not`), why, next: /seccomp=unconfined$/ });
      } else await attach();
    }
    assert.equal(started.length === 0, refused);
  }
});

Deno.test("library attacher: a function on whose first instruction the kernel accepts no probe is told of, once", async () => {
  using root = temporary();
  const { proc, facts, started, libraries } = attacher(root.path);
  proc.map(100, "/opt/libllama.so", 5, makeElf({ llama_decode: "c5 f8 77", llama_init_from_model: "55", llama_load_model_from_file: "55" }));
  await libraries.atMapping(100);
  const why = "not seen, because the kernel accepts no probe on such an instruction";
  assert.deepEqual(facts, [{ fact: "note", text: `libllama.so: llama_decode (c5 f8 77 00 00 00 00 00) ${why}`, files: ["libllama.so"] }]);
  assert.ok(started.includes("  return of libllama.so:llama_init_from_model emulated and back"));
});

Deno.test("library attacher: who calls a library past its functions is told of, once, when both are mapped", async () => {
  using root = temporary();
  const { proc, facts, libraries } = attacher(root.path, {}, undefined, [gpuCalls.levelzero]);
  const notes = () => facts.flatMap((fact) => fact.fact === "note" ? [fact.text] : []);
  proc.map(200, "/opt/libur_adapter_level_zero.so.0", 6, makeElf({ urAdapterGet: "55" }));
  await libraries.atMapping(200);
  for (const pid of [100, 200]) {
    proc.map(pid, "/usr/lib/libze_loader.so.1", 5, makeElf({ zeMemFree: "55" }));
    for (let times = 0; times < 2; times++) await libraries.atMapping(pid);
  }
  assert.equal(notes().length, 1);
  assert.match(notes()[0]!, /^libur_adapter_level_zero\.so\.0 in process 200 calls libze_loader\.so\.1 past the functions/);
});

Deno.test("library attacher: at the call the variant that is mapped is attached, once for each file, whoever maps it", async () => {
  using root = temporary();
  const { proc, started, facts, libraries } = attacher(root.path);
  proc.map(100, "/opt/libggml-cpu-haswell.so", 6, libggml);
  proc.map(200, "/opt/libggml-cpu-haswell.so", 6, libggml);
  await libraries.atCall(100);
  await libraries.atCall(200);
  assert.deepEqual(started, [
    "ggml: ggml/graph ggml/ops",
    "  libggml-cpu-haswell.so:ggml_graph_compute+4 shared with its return",
    "  return of libggml-cpu-haswell.so:ggml_graph_compute emulated and back",
    "  libggml-cpu-haswell.so:ggml_cpu_extra_compute_forward nop",
  ]);
  assert.deepEqual(facts, [{ fact: "note", text: "no library of process 100 tells the names of its operators: they are shown by number" }]);
  proc.map(200, "/opt/libggml-cpu-zen4.so", 7, libggml);
  await libraries.atCall(200);
  assert.equal(started.filter((line) => line === "ggml: ggml/graph ggml/ops").length, 2);
});

Deno.test("library attacher: exceptions of each process get through, also of one whose file is attached to already", async () => {
  using root = temporary();
  const { proc, started, atStart, libraries } = attacher(root.path, {}, undefined, [torchOps([LINEAR])]);
  proc.map(100, "/opt/libtorch_cpu.so", 5, makeElf({ [DISPATCHED]: "55", [LINEAR]: "55" }));
  await atStart([100], false);
  proc.map(200, "/opt/libtorch_cpu.so", 5, makeElf({ [DISPATCHED]: "55", [LINEAR]: "55" }));
  await libraries.atMapping(200);
  const said = started.filter((line) => !line.startsWith(" "));
  assert.deepEqual(said, ["exceptions of 100 and whoever has libtorch_cpu.so", "torch: torch/ops", "exceptions of 200 and whoever has "]);
});

Deno.test("library attacher: what is linked into the program is attached before its first instruction, without a gate for a choice", async () => {
  using root = temporary();
  const { proc, started, libraries } = attacher(root.path);
  const all = { llama_decode: guarded, llama_init_from_model: "55", ggml_graph_compute: "55", ggml_cpu_extra_compute_forward: "55" };
  proc.program(100, "/opt/server");
  proc.map(100, "/opt/server", 5, makeElf(all));
  assert.equal((await libraries.atMapping(100)).fresh, 2);
  const programs = started.filter((line) => !line.startsWith(" "));
  assert.deepEqual(programs.sort(), ["ggml: ggml/graph ggml/ops", "llama: llama/calls"]);
  assert.ok(started.includes("  server:llama_decode+4 shared with its return"), started.join("\n"));
  assert.equal((await libraries.atMapping(100)).fresh, 0, "once for each file");
});

Deno.test("library attacher: a program that was looked into before it was started is not read again", async () => {
  using root = temporary();
  const { proc, libraries } = attacher(root.path);
  Deno.mkdirSync(`${root.path}/bin`);
  Deno.writeFileSync(`${root.path}/bin/sh`, makeElf({ main: "55" }));
  await libraries.inspect("/bin/sh");
  proc.program(100, "/bin/sh");
  // What it would find if it looked.
  proc.map(100, "/bin/sh", 5, libllama);
  assert.equal((await libraries.atMapping(100)).fresh, 0);
});

Deno.test("library attacher: whatever a file is called, its label is one line", async () => {
  using root = temporary();
  const { proc, started, libraries } = attacher(root.path);
  // As the kernel writes a newline in /proc/PID/maps.
  proc.map(100, '/opt/libllama.\\012END { system("id"); }\u001b[2J', 5, libllama);
  await libraries.atMapping(100);
  const labels = started.filter((line) => line.includes("llama_decode"));
  assert.deepEqual(labels, [
    '  libllama.\ufffdEND { system("id"); }\ufffd[2J:llama_decode+4 shared with its return',
    '  return of libllama.\ufffdEND { system("id"); }\ufffd[2J:llama_decode emulated and back',
  ]);
});

Deno.test("library attacher: a bpftrace that finds no names of llmprof's gets those of the functions, and offsets where it accepts them", async () => {
  using root = temporary();
  for (const [offsets, entry] of [[false, "llama_decode shared with its return"], [true, "llama_decode+4 emulated"]] as const) {
    const { proc, started, attached, libraries } = attacher(root.path, { symbols: false, offsets });
    proc.map(100, "/opt/libllama.so", 5, libllama);
    await libraries.atMapping(100);
    const path = "/proc/100/map_files/7f000005000-7f000005fff";
    for (const line of [`  libllama.so:${entry}`, "  return of libllama.so:llama_decode stepped and back"]) assert.ok(started.includes(line), line);
    assert.ok(attached.includes(`uprobe:"${path}":"llama_decode"${offsets ? "+4" : ""}`));
  }
});

Deno.test("library attacher: of a running process everything that is mapped is attached, and what is missing is told", async () => {
  using root = temporary();
  const { proc, started, atStart } = attacher(root.path);
  proc.map(100, "/opt/libllama.so", 5, libllama);
  proc.map(200, "/opt/libggml-cpu.so", 6, libggml);
  assert.deepEqual(await atStart([100, 200], true), []);
  assert.deepEqual(started.filter((line) => !line.startsWith(" ")).sort(), ["ggml: ggml/graph ggml/ops", "llama: llama/calls"]);
});

Deno.test("library attacher: a running process that has not chosen yet gets the gate", async () => {
  using root = temporary();
  const { proc, started, atStart } = attacher(root.path);
  proc.map(100, "/opt/libllama.so", 5, libllama);
  const missing = await atStart([100], true);
  assert.deepEqual(missing.map(({ stream }) => stream), ["ggml"]);
  assert.equal(started[0], "llama: llama/calls gate/call");
});

Deno.test("library attacher: an engine without llama.cpp has its gate where a graph is planned, and once it computes lacks nothing", async () => {
  using root = temporary();
  const { proc, started, libraries, atStart } = attacher(root.path);
  proc.map(100, "/opt/libggml-base.so", 5, makeElf({ ggml_gallocr_new_n: "55" }));
  await libraries.atMapping(100);
  assert.deepEqual(started, ["gate-otherwise: gate/call", "  libggml-base.so:ggml_gallocr_new_n emulated"]);
  proc.map(100, "/opt/libggml-cpu-haswell.so", 6, libggml);
  await libraries.atCall(100);
  assert.equal(started[2], "ggml: ggml/graph ggml/ops");
  assert.deepEqual(await atStart([100], false), []);
  proc.map(200, "/opt/libllama.so", 7, libllama);
  proc.map(200, "/opt/libggml-base.so.2", 8, makeElf({ ggml_gallocr_new_n: "55" }));
  started.length = 0;
  await libraries.atMapping(200);
  assert.deepEqual(started.filter((line) => !line.startsWith(" ")), ["llama: llama/calls gate/call"]);
});

Deno.test("library attacher: a process that ends while it is attached to is no failure, and the next one with its file attaches it", async () => {
  using root = temporary();
  const lost = new Error("uprobe target file does not exist");
  let fails = true;
  const { proc, started, facts, libraries } = attacher(root.path, undefined, () => fails ? Promise.reject(lost) : Promise.resolve());
  proc.map(100, "/opt/libllama.so", 5, libllama);
  await assert.rejects(libraries.atMapping(100), lost, "it runs: what failed has another reason");
  started.length = 0;
  proc.map(200, "/opt/libllama.so.2", 6, libllama);
  proc.process(200, 100, "node", "Z");
  await libraries.atMapping(200);
  fails = false;
  proc.map(100, "/opt/libllama.so.2", 6, libllama);
  await libraries.atMapping(100);
  assert.equal(started.filter((line) => line === "llama: llama/calls gate/call").length, 2);
  assert.deepEqual(facts.map((fact) => fact.fact === "note" && fact.text), [
    "process 200 ended while probes were attached to its libllama.so.2: nothing of it was seen there",
  ]);
});

Deno.test("library attacher: a variant that the process let go while it was attached is no failure, and what it maps then is attached", async () => {
  using root = temporary();
  let isChosen = false;
  const { proc, started, atStart } = attacher(root.path, undefined, () => {
    if (isChosen) return Promise.resolve();
    isChosen = true;
    proc.unmap(100);
    proc.map(100, "/opt/libggml-cpu-haswell.so", 7, libggml);
    return Promise.reject(new Error("uprobe target file does not exist"));
  });
  proc.map(100, "/opt/libggml-cpu-sse42.so", 6, libggml);
  await atStart([100], false);
  assert.deepEqual(started.filter((line) => line.startsWith("ggml")), ["ggml: ggml/graph ggml/ops", "ggml: ggml/graph ggml/ops"]);
  assert.ok(started.includes("  libggml-cpu-haswell.so:ggml_graph_compute+4 shared with its return"), started.join());
});

Deno.test("library attacher: what is attached together is attached again together, without a process that ended meanwhile", async () => {
  using root = temporary();
  let isFirst = true;
  const { proc, started, facts, atStart } = attacher(root.path, undefined, () => {
    if (!isFirst) return Promise.resolve();
    isFirst = false;
    proc.gone(200);
    return Promise.reject(new Error("uprobe target file does not exist"));
  });
  proc.map(100, "/opt/libllama.so", 5, libllama);
  proc.map(100, "/opt/libggml-cpu.so", 6, libggml);
  proc.map(200, "/srv/libggml-cpu.so", 7, libggml);
  assert.deepEqual(await atStart([100, 200], false, true), []);
  const programs = started.filter((line) => !line.startsWith(" "));
  assert.deepEqual(programs.sort(), [...Array<string>(3).fill("ggml: ggml/graph ggml/ops"), ...Array<string>(2).fill("llama: llama/calls")]);
  assert.deepEqual(facts.flatMap((fact) => fact.fact === "note" && fact.text.startsWith("process 200") ? fact.text : []), [
    "process 200 ended while probes were attached to its libggml-cpu.so: nothing of it was seen there",
  ]);
});

Deno.test("library attacher: ggml of 2024 is one file, and its layout that of its own functions; where operators cannot be seen, graphs are", async () => {
  const lea = (offset: string) => `48 8d 87 ${offset} 00 00 c3`;
  const older = { ggml_graph_compute: guarded, ggml_compute_forward: "55", ggml_new_graph_custom: "55" };
  const seen = async (functions: Readonly<Record<string, string>>) => {
    using root = temporary();
    const { proc, started, laidOut, facts, atStart } = attacher(root.path);
    proc.map(100, "/opt/libllama.so", 5, libllama);
    proc.map(100, "/opt/libggml.so", 6, makeElf(functions));
    assert.deepEqual(await atStart([100], false), []);
    const ggml = started.filter((line) => line.startsWith("ggml:") || line.startsWith("  libggml"));
    return { ggml, laidOut, notes: facts.flatMap((fact) => fact.fact === "note" && fact.text.startsWith("not seen") ? fact.text : []) };
  };
  assert.deepEqual(await seen({ ...older, ggml_get_name: lea("08 01") }), {
    ggml: [
      "ggml: ggml/graph ggml/ops",
      "  libggml.so:ggml_graph_compute+4 shared with its return",
      "  libggml.so:ggml_new_graph_custom emulated",
      "  libggml.so:ggml_compute_forward emulated",
    ],
    laidOut: ["ggml_get_name,264"],
    notes: [],
  });
  const phases = await seen({ ...older, ggml_get_name: lea("20 01") });
  assert.equal(phases.ggml[0], "ggml: ggml/graph");
  const instead = "--detail sample tells operators by their functions, where these have names";
  assert.match(
    phases.notes[0]!,
    /^not seen: ggml: every operator on every worker \(.* in phases.*\); --detail sample tells operators by their functions/,
  );
  const nameless = await seen({ ggml_graph_compute: guarded, ggml_get_name: lea("08 01") });
  assert.equal(nameless.ggml[0], "ggml: ggml/graph");
  assert.deepEqual(nameless.notes, [
    `not seen: ggml: every operator on every worker (libggml.so does not name ggml_cpu_extra_compute_forward); ${instead}`,
  ]);
});

Deno.test("library attacher: why a running process cannot be profiled", async () => {
  using root = temporary();
  const { proc, atStart } = attacher(root.path);
  const missing = await atStart([100], true);
  assert.deepEqual(missing.map(({ stream }) => stream).sort(), ["gate-otherwise", "ggml", "llama"]);
  const none = await whyMissing(proc.files, [100], missing.filter(({ stream }) => stream === "ggml"));
  assert.deepEqual([none?.exitCode, none?.what], [1, "Process 100 has no libggml-cpu*.so mapped."]);
  const [llama] = missing.filter(({ stream }) => stream === "llama");
  assert.match((await whyMissing(proc.files, [100], [llama!]))!.why, /neither llama\.cpp/);
  proc.process(300, 1, "python3");
  proc.map(300, "/opt/libtorch_cpu.so", 7, makeElf({ [DISPATCHED]: "55" }));
  assert.match((await whyMissing(proc.files, [300], [llama!]))!.message, /computes with PyTorch.*\n?.*llmprof operators --pid 300\n/);
  proc.map(100, "/opt/libggml-cpu.so", 8, makeElf({ something_else: "55" }));
  assert.match((await whyMissing(proc.files, [100], [llama!]))!.next, /--detail op/);
  const stripped = await whyMissing(proc.files, [100], await atStart([100], true));
  assert.match(stripped!.what, /^libggml-cpu\.so does not name the function ggml_graph_compute\.$/);
  proc.map(100, "/opt/libggml-cpu.so", 9, makeElf({ ggml_graph_compute: "55", ggml_cpu_extra_compute_forward: "55" }));
  assert.equal(await whyMissing(proc.files, [100], missing.filter(({ stream }) => stream === "ggml")), null, "it has come since");
});

Deno.test("library attacher: a library that is mapped and cannot be read is told by its path", async () => {
  using root = temporary();
  const { proc, atStart } = attacher(root.path);
  proc.map(100, "/tmp/.mount_llamaX/libllama.so", 5, libllama);
  // As on a file system that is its user's alone.
  Deno.removeSync(`${root.path}/proc/100/map_files`, { recursive: true });
  const missing = (await atStart([100], false)).filter(({ stream }) => stream === "llama");
  const told = await whyMissing(proc.files, [100], missing);
  assert.deepEqual([told?.exitCode, told?.what], [1, "/tmp/.mount_llamaX/libllama.so of process 100 cannot be read."]);
});

Deno.test("library attacher: of a llamafile it is said what that is", async () => {
  using root = temporary();
  const { proc, atStart } = attacher(root.path);
  const missing = (await atStart([100], true)).filter(({ stream }) => stream === "llama");
  // A program of Windows, as Wine maps it.
  proc.map(100, "/opt/engine.exe", 7, new TextEncoder().encode("MZ\x90\0\x03\0\0\0"));
  assert.match((await whyMissing(proc.files, [100], missing))!.why, /neither llama\.cpp/);
  proc.map(100, "/opt/model.llamafile", 8, new TextEncoder().encode("MZqFpD='\n"));
  assert.match((await whyMissing(proc.files, [100], missing))!.why, /^\/opt\/model\.llamafile is an APE/);
});

Deno.test("library attacher: what was mapped while others were counted is attached late, and said, once for each file", async () => {
  using root = temporary();
  const { proc, facts, started, libraries, atStart } = attacher(root.path);
  proc.map(100, "/opt/libllama.so", 5, libllama);
  proc.map(100, "/opt/libggml-cpu.so", 6, libggml);
  await atStart([100], false);
  started.length = 0;
  proc.map(200, "/srv/libllama.so", 7, libllama);
  proc.map(200, "/opt/libggml-cpu.so", 6, libggml);
  for (const _look of [1, 2]) await libraries.attachLate([100, 200]);
  assert.deepEqual(started.filter((line) => !line.startsWith(" ")), ["llama: llama/calls"]);
  assert.deepEqual(facts.flatMap((fact) => fact.fact === "note" && fact.text.includes("while others") ? fact.text : []), [
    "process 200 has mapped libllama.so while others were counted: what it did there at first is missing",
  ]);
});

Deno.test("library attacher: a library that is linked into the program is found there", async () => {
  using root = temporary();
  const { proc, started, atStart } = attacher(root.path);
  proc.map(100, "/usr/bin/llama-server", 9, makeElf({ llama_decode: "55", ggml_graph_compute: "55", ggml_cpu_extra_compute_forward: "55" }));
  Deno.symlinkSync("/usr/bin/llama-server", `${root.path}/proc/100/exe`);
  assert.deepEqual(await atStart([100], true), []);
  assert.ok(started.includes("  llama-server:ggml_graph_compute shared with its return"));
});

Deno.test("library attacher: an addon with all of it is looked into when it is mapped, and no other file is", async () => {
  using root = temporary();
  const { proc, started, libraries } = attacher(root.path);
  const all = makeElf({ llama_decode: "55", ggml_graph_compute: "55", ggml_cpu_extra_compute_forward: "55" });
  for (const [path, inode] of [["/opt/engine.node", 9], ["/opt/other.node", 11]] as const) {
    proc.map(100, path, inode, all);
    proc.data(100, path, inode, 1 << 20, all);
  }
  assert.deepEqual(await libraries.atMapping(100), { fresh: 0, each: false });
  assert.deepEqual(await libraries.atMapping(100, 9), { fresh: 2, each: false });
  assert.deepEqual(started.filter((line) => !line.startsWith("  ")).sort(), ["ggml: ggml/graph ggml/ops", "llama: llama/calls"]);
  assert.ok(started.every((line) => !line.includes("other.node")));
});

Deno.test("library attacher: what is for processes with another backend is left out of those without, and a device's own functions need not be exported", async () => {
  using root = temporary();
  const libbase = makeElf({ ggml_backend_synchronize: guarded });
  const libvulkan = makeElf({ [ownCopyOfVulkan]: "55" }, false);
  const { proc, started, libraries } = attacher(root.path, {}, undefined, [graph, backends]);
  for (const pid of [100, 200]) {
    proc.map(pid, "/opt/libggml-base.so", 7, libbase);
    proc.map(pid, `/opt/libggml-cpu-${pid}.so`, pid, libggml);
  }
  proc.map(200, "/opt/libggml-vulkan.so", 8, libvulkan);
  await libraries.atCall(100);
  assert.equal(started.splice(0)[0], "ggml: ggml/graph");
  await libraries.atCall(200);
  assert.deepEqual(started, [
    "ggml: ggml/graph ggml/backends",
    "  libggml-cpu-200.so:ggml_graph_compute+4 shared with its return",
    "  return of libggml-cpu-200.so:ggml_graph_compute emulated and back",
    "  libggml-base.so:ggml_backend_synchronize+4 shared with its return",
    "  return of libggml-base.so:ggml_backend_synchronize emulated and back",
    `  libggml-vulkan.so:${ownCopyOfVulkan} shared with its return`,
    `  return of libggml-vulkan.so:${ownCopyOfVulkan} emulated and back`,
  ]);
});

const ownCopyOfVulkan = "_ZL32ggml_backend_vk_cpy_tensor_asyncP12ggml_backendS0_PK11ggml_tensorPS1_";
