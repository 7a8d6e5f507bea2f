/**
 * Makes the recording that `llmprof demo` replays, by a real run. As root, after set-up:
 *
 *     deno run -A tests/demo/record.ts [BPFTRACE]
 *
 * llmprof, the engine and the model are copied to a neutral place for it, and the environment is bare: nothing of the machine on which it was
 * made gets into the repository but its kernel and its CPU.
 */
import { dirname, join } from "node:path";
import { pack } from "../../lib/timeline/packed_recording.ts";
import { RecordingFolder, type RecordingSource } from "../../lib/timeline/recording_source.ts";
import { mustRun } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";
import { llmprof } from "../harness/llmprof.ts";
import { top } from "../harness/places.ts";
import { model } from "../workloads/model.ts";

const place = "/opt/llmprof";
const parts = ["main.ts", "deno.json", "deno.lock", "lib", "probes", "exporters", "tests/workloads", ".cache/engine", ".cache/models/small.gguf"];
const result = join(top, "lib", "commands", "demo", "recording.txt");

if (import.meta.main) {
  const bpftrace = Deno.args[0] ?? findProgram("bpftrace");
  if (bpftrace === null) throw new Error("There is no bpftrace: deno run -A tests/setup/setup.ts bpftrace");
  model("small");
  // Fails where something is there already, which is then nobody's to delete.
  Deno.mkdirSync(place);
  try {
    for (const part of parts) {
      Deno.mkdirSync(dirname(join(place, part)), { recursive: true });
      await mustRun(["cp", "-r", join(top, part), join(place, part)]);
    }
    // A recording has to be there to be imported; this one is replaced.
    Deno.writeTextFileSync(join(place, "lib/commands/demo/recording.txt"), "");
    const recording = join(place, "demo.llmprof");
    const command = llmprof.map((word) => word === join(top, "main.ts") ? join(place, "main.ts") : word);
    const environment = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", `HOME=${Deno.env.get("HOME")}`];
    const live = ["demo", "--live", "--bpftrace", bpftrace, "-o", recording];
    await mustRun(["env", "-i", ...environment, ...command, ...live], { cwd: place, timeoutMilliseconds: 120_000 });
    const source = elsewhere(new RecordingFolder(recording), bpftrace);
    mustBeNeutral(source);
    Deno.writeTextFileSync(result, await pack(source));
    console.log(`${result}: ${Deno.statSync(result).size} bytes`);
  } finally {
    Deno.removeSync(place, { recursive: true });
  }
}

/** A bpftrace out of a root in `.cache/` is named as the system's would be. */
function elsewhere(source: RecordingSource, bpftrace: string): RecordingSource {
  return {
    name: source.name,
    header: () => source.header().replaceAll(JSON.stringify(bpftrace), '"/usr/bin/bpftrace"'),
    streams: () => source.streams(),
    open: (stream) => source.open(stream),
  };
}

/** Looks for this machine's names, as text and as the hex bytes in which lines carry strings. */
function mustBeNeutral(source: RecordingSource): void {
  const names = [top, Deno.hostname(), "ca-cert"];
  const texts = [source.header(), ...source.streams().map((stream) => Deno.readTextFileSync(`${source.name}/${stream}.lines`))];
  for (const name of names) {
    const hex = [...new TextEncoder().encode(name)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    if (texts.some((text) => text.includes(name) || text.includes(hex))) {
      throw new Error(`The recording contains '${name}', which is of this machine.`);
    }
  }
}
