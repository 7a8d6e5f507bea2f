/**
 * How long a person waits for llmprof beside bpftrace alone: from the command to the first event that counts, and from Ctrl-C to the closed file.
 *
 *     deno run -A tests/bench/latency.ts start|end [--rounds 11] [--bpftrace 0.23] [--cold]
 *
 * `start`: a real engine that stands ready, `llmprof operators --pid` against the very programs that it runs given to bpftrace itself, all at
 * once, until each says `ready`. `end`: a made-up engine, a million operators, then SIGINT: until llmprof says what it wrote, against the exit of
 * bpftrace itself. In turns; medians are printed. At most 150 ms more are wanted at the start and 300 ms more at the end, with warm caches
 * (`--cold`: what llmprof remembers of this machine is forgotten before each start). Ends with 1 where it is more.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Summary } from "../../lib/analysis/summary.ts";
import { chosenBpftraces } from "../harness/bpftraces.ts";
import { mustRun, type Running, start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { startEngine } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { judged } from "./judged.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "11" },
    bpftrace: { type: "string" },
    cold: { type: "boolean", default: false },
  },
});
const MOST_MS = positionals[0] === "end" ? 300 : 150;
/** For the end: a million operators, also of an engine that traps hold up (with 0.17 on an EPYC 78,000 a second). */
const RATE = 100_000, SECONDS = 15, LEAST = 1_000_000;

for (const { name, path } of chosenBpftraces(options.bpftrace)) {
  const [own, with_] = positionals[0] === "end" ? await ends(path) : await starts(path);
  const more = with_ - own;
  const figure = `${name} ${positionals[0]}: bpftrace ${own.toFixed(0)} ms, llmprof ${with_.toFixed(0)} ms, ${more.toFixed(0)} ms more`;
  console.log(options.cold ? figure : judged(`${figure} (${MOST_MS} at most)`, more <= MOST_MS));
}

async function starts(bpftrace: string): Promise<[own: number, llmprof: number]> {
  using folder = temporary();
  await using engine = startEngine({ model: model("tiny"), tokens: 1, waitFile: folder.file("never") }, { timeoutMilliseconds: 600_000 });
  await engine.saw('"waiting"');
  const pid = Number(/"waiting":(\d+)/.exec(engine.stdout())![1]);
  const commands = await programsFor(pid, bpftrace, folder.file("programs"));
  const own: number[] = [], ours: number[] = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    own.push(
      await timed(async () => {
        const running = commands.map((command) => start(command));
        await Promise.all(running.map((program) => program.saw(/^ready$/m)));
        return running;
      }),
    );
    if (options.cold) forget();
    ours.push(
      await timed(async () => {
        const tracer = start([...llmprof, "operators", "--bpftrace", bpftrace, "--pid", String(pid), "--no-output"]);
        await tracer.saw("Tracing process");
        return [tracer];
      }),
    );
  }
  return [median(own), median(ours)];
}

async function ends(bpftrace: string): Promise<[own: number, llmprof: number]> {
  using folder = temporary();
  await using engine = start([built.paced, String(RATE), "3600"], { timeoutMilliseconds: 3_600_000 });
  await engine.saw("running");
  const commands = await programsFor(engine.pid, bpftrace, folder.file("programs"));
  const own: number[] = [], ours: number[] = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const running = commands.map((command) => start(command));
    await Promise.all(running.map((program) => program.saw(/^ready$/m)));
    own.push(await untilEnd(running, async () => void await Promise.all(running.map((program) => program.finished()))));
    const output = folder.file(`run-${round}.pftrace`);
    const tracer = start([...llmprof, "operators", "--bpftrace", bpftrace, "--pid", String(engine.pid), "-o", output, "--summary", "json"]);
    await tracer.saw("Tracing process");
    await pause(SECONDS * 1000);
    ours.push(await untilEnd([tracer], () => tracer.saw(/^Wrote /m)));
    const { events: { received, lost } }: Summary<unknown> = JSON.parse((await tracer.succeeded()).stdout);
    if (received + lost < LEAST) throw new Error(`${received} events came and ${lost} were lost: that is no million.`);
    Deno.removeSync(output);
  }
  return [median(own), median(ours)];
}

/** The command lines that run llmprof's programs without it: those that a run of it gives to its bpftraces. */
async function programsFor(pid: number, bpftrace: string, folder: string): Promise<string[][]> {
  Deno.mkdirSync(`${folder}/symbols`, { recursive: true });
  const between = `${folder}/bpftrace`;
  // What asks for a version or for features has no program. The names of places are written before it comes.
  const kept = [
    `cat > ${folder}/$$.bt`,
    `env > ${folder}/$$.env`,
    `echo "$@" > ${folder}/$$.args`,
    `cp -r "$BCC_SYMFS/." ${folder}/symbols`,
    `case $1 in --traceable-functions) cp "$2" ${folder}/traceable;; esac`,
  ];
  const keep = `case $* in *" -") ${kept.join("; ")}; exec ${bpftrace} "$@" < ${folder}/$$.bt; esac`;
  Deno.writeTextFileSync(between, `#!/bin/sh\n${keep}\nexec ${bpftrace} "$@"\n`, { mode: 0o755 });
  await mustRun([...llmprof, "operators", "--bpftrace", between, "--pid", String(pid), "--no-output", "--duration", "0.1s"]);
  const programs = [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`).filter((path) => path.endsWith(".bt"));
  return programs.map((program) => {
    const beside = (extension: string) => Deno.readTextFileSync(program.replace(/bt$/, extension)).trim();
    const environment = beside("env").split("\n").filter((line) => line.startsWith("BPFTRACE_"));
    // llmprof takes its own list away when it ends.
    const args = beside("args").replace(/^--traceable-functions \S+/, `--traceable-functions ${folder}/traceable`);
    return ["env", ...environment, `BCC_SYMFS=${folder}/symbols`, "sh", "-c", `exec ${bpftrace} ${args} < ${program}`];
  });
}

/** Milliseconds until what `begin` starts is ready; ends it then. */
async function timed(begin: () => Promise<Running[]>): Promise<number> {
  const from = performance.now();
  const running = await begin();
  const taken = performance.now() - from;
  for (const program of running) program.kill("SIGINT");
  await Promise.all(running.map((program) => program.finished()));
  return taken;
}

async function untilEnd(running: readonly Running[], ended: () => Promise<void>): Promise<number> {
  const from = performance.now();
  for (const program of running) program.kill("SIGINT");
  await ended();
  return performance.now() - from;
}

/** Removes what llmprof remembers of this machine. */
function forget(): void {
  Deno.removeSync("/var/cache/llmprof", { recursive: true });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
