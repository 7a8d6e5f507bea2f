import assert from "node:assert/strict";
import { draw } from "./draw.ts";
import { committed, demoRecording } from "./picture.ts";
import { readRun } from "./seen_run.ts";
import { escape, fitting, tickStep } from "./svg.ts";

Deno.test("picture: the README shows the recording that the demo replays", async () => {
  const drawn = draw(await readRun(demoRecording));
  assert.ok(drawn === Deno.readTextFileSync(committed), "It shows an older one. Draw it again: deno task picture");
  assert.ok(drawn.length < 150_000, `${drawn.length} bytes`);
});

Deno.test("picture: what a process is called cannot become markup", () => {
  assert.equal(escape(`<a href="x">&`), "&#60;a href=&#34;x&#34;&#62;&#38;");
});

Deno.test("picture: texts are cut where there is room for some of them, and steps are round", () => {
  assert.deepEqual([fitting("MUL_MAT", 10, 100), fitting("FLASH_ATTN_EXT", 10, 50), fitting("ADD_AND_MORE", 10, 20)], ["MUL_MAT", "FLASH_AT…", ""]);
  assert.deepEqual([tickStep(1.8, 8), tickStep(21, 10), tickStep(100, 10)], [0.5, 5, 10]);
});
