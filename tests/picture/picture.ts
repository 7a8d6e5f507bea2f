/**
 * Draws the README's picture from a recording:
 *
 *     deno run -A tests/picture/picture.ts [RECORDING] [SVG]
 *
 * RECORDING is a folder that llmprof wrote or a packed one; without it, the recording that `llmprof demo` replays.
 */
import { join } from "node:path";
import { top } from "../harness/places.ts";
import { draw } from "./draw.ts";
import { readRun } from "./seen_run.ts";

export const demoRecording = join(top, "lib", "commands", "demo", "recording.txt");
export const committed = join(top, ".github", "trace.svg");

if (import.meta.main) {
  const [recording = demoRecording, svg = committed] = Deno.args;
  Deno.writeTextFileSync(svg, draw(await readRun(recording)));
  console.log(`${svg}: ${Deno.statSync(svg).size} bytes`);
}
