/** What is written into traces is described in SPANS.md. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Mark } from "../lib/events/span.ts";
import { readModules } from "./architecture/modules.ts";
import { demoFolder } from "./cli/demo_recording.ts";
import { runLlmprof } from "./cli/llmprof.ts";
import { top } from "./harness/places.ts";
import { temporary } from "./harness/temporary.ts";

const rows = Deno.readTextFileSync(join(top, "probes/SPANS.md")).split("\n").filter((line) => line.startsWith("| `"));
const described = new Set(rows.flatMap((row) => row.split("|")[1]!.match(/[\w.]+/g) ?? []));

function missing(categories: readonly string[]): string[] {
  return [...new Set(categories).difference(described)].sort();
}

Deno.test("spans: every category that a source tells of, and every kind of marks, has a row", async () => {
  const sources = (await readModules(top)).filter(({ path }) => !path.endsWith("_test.ts"));
  const told = sources.flatMap(({ text }) => [...text.matchAll(/\bcategory: "([\w.]+)"/g)].map(([, category]) => category!));
  assert.ok(told.includes("ggml.op") && told.includes("coldstart.phase"));
  const kinds: Readonly<Record<Mark["kind"], true>> = { lost: true, undecodable: true, window: true, ended: true, note: true };
  assert.deepEqual(missing([...told, ...[...Object.keys(kinds), "run"].map((kind) => `llmprof.${kind}`)]), []);
});

Deno.test("spans: every category that the demo writes has a row", async () => {
  using folder = temporary();
  const path = folder.file("demo.jsonl");
  const { code, stderr } = await runLlmprof(["export", await demoFolder(folder.path), "-o", path]);
  assert.equal(code, 0, stderr);
  const spans = Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => JSON.parse(line) as { readonly category?: string });
  const written = spans.flatMap(({ category }) => category ?? []);
  assert.ok(written.includes("library.load") && written.includes("coldstart.phase"));
  assert.deepEqual(missing(written), []);
});
