/**
 * Makes what the tests and the demo run against, into `.cache/`. Quick when everything is there.
 *
 *     deno run -A tests/setup/setup.ts                 everything that this user can have; what cannot be had is said and left out
 *     deno run -A tests/setup/setup.ts engine sid      only these, and an error when they cannot be had
 */
import { traceProcessor } from "../judge/files.ts";
import { bcc } from "./bcc.ts";
import { bpftrace } from "./bpftrace.ts";
import { debianLlama } from "./debian_llama.ts";
import { cudaEngine, engine, vulkan } from "./engine.ts";
import { crossCompiler } from "./cross_compiler.ts";
import { CannotSetUp, type Part } from "./part.ts";
import { fio } from "./fio.ts";
import { libbpfTools } from "./libbpf_tools.ts";
import { moreEngines } from "./more_engines.ts";
import { podman } from "./podman.ts";
import { programs } from "./programs.ts";
import { bpftraceOf } from "./root.ts";
import { strace } from "./strace.ts";
import { torch } from "./torch.ts";
import { ubuntuBpftraceOf } from "./ubuntu.ts";

/** `trixie` brings a bpftrace with a ring buffer and function offsets; more suites are for the matrix, BCC for a benchmark. */
const usual: readonly Part[] = [
  engine,
  vulkan,
  traceProcessor,
  bpftrace,
  programs,
  crossCompiler,
  podman,
  fio,
  strace,
  libbpfTools,
  torch,
  bpftraceOf("trixie"),
];
const onDemand: readonly Part[] = [
  bpftraceOf("sid"),
  ubuntuBpftraceOf("noble"),
  ubuntuBpftraceOf("plucky"),
  debianLlama,
  moreEngines,
  cudaEngine,
  bcc,
];

/** Says on standard error what was there or made. Throws {@link CannotSetUp}. */
export async function setUp(part: Part): Promise<void> {
  const begin = performance.now();
  const there = await part.isThere();
  if (!there) console.error(`setup: ${part.name}: making ${part.what} …`);
  if (!there) await part.make();
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.error(`setup: ${part.name}: ${part.what}, ${there ? "already there" : "made"} (${seconds} s)`);
}

/** One after another. `mustBe`: what was asked for by name must be there, or false is returned; otherwise the tests that need it are skipped by name. */
async function makeAll(parts: readonly Part[], mustBe: boolean): Promise<boolean> {
  for (const part of parts) {
    try {
      await setUp(part);
    } catch (error) {
      if (!(error instanceof CannotSetUp)) throw error;
      console.error(`setup: ${part.name}: cannot be had here. ${error.message}`);
      if (mustBe) return false;
    }
  }
  return true;
}

if (import.meta.main) {
  const known = new Map([...usual, ...onDemand].map((part) => [part.name, part]));
  const unknown = Deno.args.find((name) => !known.has(name));
  if (unknown !== undefined) {
    console.error(`setup: there is no part called ${unknown}. There are: ${[...known.keys()].join(", ")}.`);
    Deno.exit(2);
  }
  const isAsked = Deno.args.length > 0;
  const parts = isAsked ? Deno.args.map((name) => known.get(name)!) : usual;
  const lanes = [...Map.groupBy(parts, ({ lane }) => lane).values()];
  const made = await Promise.all(lanes.map((lane) => makeAll(lane, isAsked)));
  if (made.includes(false)) Deno.exit(1);
}
