import { existsSync } from "node:fs";
import { traceProcessor } from "../judge/files.ts";
import { crossCompiler } from "../setup/cross_compiler.ts";
import { debianLlama } from "../setup/debian_llama.ts";
import { cudaEngine, engine, vulkan } from "../setup/engine.ts";
import { fio } from "../setup/fio.ts";
import { libbpfTools } from "../setup/libbpf_tools.ts";
import { moreEngines } from "../setup/more_engines.ts";
import { podman } from "../setup/podman.ts";
import { programs } from "../setup/programs.ts";
import { bpftraceOf } from "../setup/root.ts";
import { strace } from "../setup/strace.ts";
import { torch } from "../setup/torch.ts";
import { bpftraces, handsOverAll } from "./bpftraces.ts";
import { findProgram } from "./find_program.ts";

/** What a test cannot run without. */
export interface Needs {
  readonly root?: boolean;
  /** A bpftrace that works on this kernel; implies root. */
  readonly bpftrace?: boolean;
  /** A root who may raise limits of processes. */
  readonly raisesLimits?: boolean;
  readonly engine?: boolean;
  /** The same built for Vulkan, and a device for it. */
  readonly vulkan?: boolean;
  /** llama.cpp's own programs, of Debian sid. */
  readonly debianLlama?: boolean;
  /** Engines of 2024, and one in an addon. */
  readonly moreEngines?: boolean;
  /** Planted targets and helpers; they are there where a compiler is. */
  readonly gcc?: boolean;
  readonly podman?: boolean;
  readonly fio?: boolean;
  readonly strace?: boolean;
  readonly libbpfTools?: boolean;
  /** Control groups of version 1, which limit reads and memory, and beside them those of version 2. */
  readonly groups?: boolean;
  /** A compiler for aarch64, with its binutils. */
  readonly aarch64?: boolean;
  /** Perfetto's trace_processor. */
  readonly judge?: boolean;
  /** Debian's PyTorch. */
  readonly torch?: boolean;
  /** A GPU that CUDA knows, and a PyTorch for it as `python3`: whoever has them brings them. */
  readonly cuda?: boolean;
  /** llama.cpp built for CUDA. */
  readonly cudaEngine?: boolean;
  /** A bpftrace that hands over all arguments of a marker (USDT), and one that does not. */
  readonly markers?: boolean;
  readonly refusesMarkers?: boolean;
  /** A root of Debian trixie. */
  readonly trixie?: boolean;
  /** A kernel that tells whose name it is that a thread gives. */
  readonly renames?: boolean;
  /** File systems of programs. */
  readonly fuse?: boolean;
}

/** The first need that is not met here, with what would meet it; null when the test can run. */
export function unmet(needs: Needs): string | null {
  if ((needs.root || needs.bpftrace) && Deno.uid() !== 0) return "needs root";
  if (needs.bpftrace) {
    const why = bpftraceTrial();
    if (why !== "") return why;
  }
  if (needs.raisesLimits && !mayRaiseLimits()) return "needs CAP_SYS_RESOURCE";
  if (needs.engine && !engine.isThere()) return "needs the engine: deno run -A tests/setup/setup.ts engine";
  if (needs.vulkan && !vulkan.isThere()) return "needs the engine for Vulkan: deno run -A tests/setup/setup.ts vulkan";
  if (needs.debianLlama && !debianLlama.isThere()) return "needs Debian's llama.cpp: deno run -A tests/setup/setup.ts debian-llama";
  if (needs.moreEngines && !moreEngines.isThere()) return "needs more engines: deno run -A tests/setup/setup.ts more-engines";
  if (needs.gcc && !programs.isThere()) return "needs the planted targets: deno run -A tests/setup/setup.ts programs";
  if (needs.podman && !podman.isThere()) return "needs podman: deno run -A tests/setup/setup.ts podman";
  if (needs.fio && !fio.isThere()) return "needs fio: deno run -A tests/setup/setup.ts fio";
  if (needs.strace && !strace.isThere()) return "needs strace: deno run -A tests/setup/setup.ts strace";
  if (needs.libbpfTools && !libbpfTools.isThere()) return "needs libbpf-tools: deno run -A tests/setup/setup.ts libbpf-tools";
  if (needs.groups && !["blkio", "memory", "unified"].every((name) => isFolder(`/sys/fs/cgroup/${name}`))) {
    return "needs control groups of version 1, and of 2 beside them";
  }
  if (needs.aarch64 && !crossCompiler.isThere()) return "needs a compiler for aarch64: deno run -A tests/setup/setup.ts aarch64";
  if (needs.judge && !traceProcessor.isThere()) return "needs trace_processor: deno run -A tests/setup/setup.ts judge";
  if (needs.torch && !torch.isThere()) return "needs PyTorch: deno run -A tests/setup/setup.ts torch";
  if (needs.cuda && !hasCuda()) return "needs a CUDA GPU, and PyTorch for it as python3";
  if (needs.cudaEngine && !cudaEngine.isThere()) return "needs the engine for CUDA: deno run -A tests/setup/setup.ts cuda-engine";
  if (needs.markers && !bpftraces().some(handsOverAll)) {
    return "needs bpftrace 0.27: older ones refuse a marker's seventh argument and the eighth, the kernel's name: deno run -A tests/setup/setup.ts sid";
  }
  if (needs.refusesMarkers && bpftraces().every(handsOverAll)) return "needs a bpftrace before 0.27: deno run -A tests/setup/setup.ts trixie";
  if (needs.trixie && !bpftraceOf("trixie").isThere()) return "needs Debian trixie: deno run -A tests/setup/setup.ts trixie";
  if (needs.renames && !/\spid;/.test(Deno.readTextFileSync("/sys/kernel/tracing/events/task/task_rename/format"))) {
    return "needs a kernel whose task_rename tells whose name it is: not the first of 6.18";
  }
  if (needs.fuse && !existsSync("/dev/fuse")) return "needs /dev/fuse";
  return null;
}

/** Why bpftrace does not work here, or nothing. Every test file asks, so the answer is kept for this process, in its environment. */
function bpftraceTrial(): string {
  const kept = Deno.env.get("LLMPROF_TEST_BPFTRACE");
  if (kept !== undefined) return kept;
  const why = tryBpftrace();
  Deno.env.set("LLMPROF_TEST_BPFTRACE", why);
  return why;
}

/** A container may have root and bpftrace and still no right to load a program. */
function tryBpftrace(): string {
  const bpftrace = findProgram("bpftrace");
  if (bpftrace === null) return "needs bpftrace: deno run -A tests/setup/setup.ts bpftrace";
  const { code, stderr } = new Deno.Command(bpftrace, { args: ["-e", "BEGIN { exit(); }"], stdin: "null" }).outputSync();
  return code === 0 ? "" : `bpftrace does not work here: ${new TextDecoder().decode(stderr).trim().split("\n").at(-1)}`;
}

function hasCuda(): boolean {
  if (findProgram("nvidia-smi") === null || findProgram("python3") === null) return false;
  const asked = "import sys, torch; sys.exit(not torch.cuda.is_available())";
  return new Deno.Command("python3", { args: ["-c", asked], stdin: "null", stdout: "null", stderr: "null" }).outputSync().success;
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** Many a container's root may not. */
export function mayRaiseLimits(): boolean {
  const caps = /^CapEff:\s*(\w+)$/m.exec(Deno.readTextFileSync("/proc/self/status"))![1];
  return (BigInt(`0x${caps}`) >> 24n & 1n) === 1n;
}
