import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import denoJson from "../deno.json" with { type: "json" };
import { unlisted } from "./architecture/limits.ts";
import { readModules } from "./architecture/modules.ts";
import { roomOf, rooms, violations } from "./architecture/rules.ts";
import { top } from "./harness/places.ts";
import { temporary } from "./harness/temporary.ts";

const modules = await readModules(top);

Deno.test("architecture: the tree keeps the rules", () => {
  assert.deepEqual(violations(modules), []);
});

Deno.test("architecture: the reader sees every room, and a template beside its probe", () => {
  const seen = new Set(modules.map(({ path }) => roomOf(path)));
  assert.deepEqual(rooms.filter((room) => !seen.has(room)), []);
  const ops = modules.find(({ path }) => path === "probes/ggml/ops.ts")!;
  assert.ok(ops.imports.includes("probes/ggml/ops.bt"));
  assert.ok(ops.imports.includes("lib/events/event.ts"), "an import of types alone is an import");
  const cli = modules.find(({ path }) => path === "lib/commands/cli.ts")!;
  assert.ok(cli.imports.some((path) => path.startsWith("npm:commander") || path.startsWith("npm:@commander-js")));
});

Deno.test("architecture: every benchmark that judges a figure is run by the task that is to run all of them", async () => {
  const bench = await readModules(top, ["tests/bench"]), task = denoJson.tasks["bench:limits"];
  assert.deepEqual(unlisted(bench, task), []);
  for (const script of ["help", "switches", "overhead"].map((name) => `tests/bench/${name}.ts`)) {
    const missing = unlisted(bench, task.replaceAll(script, ""));
    assert.ok(missing.includes(script), `${script} judges, or what it imports does`);
  }
  const added = { path: "tests/bench/added.ts", imports: ["tests/bench/watching.ts"] };
  assert.deepEqual(unlisted([...bench, added], task), [added.path]);
});

/** Copies the sources, adds lines to one of them, and says what is wrong then. */
async function withLines(path: string, lines: string): Promise<string[]> {
  using copy = temporary();
  for (const { path, text } of modules) {
    Deno.mkdirSync(dirname(copy.file(path)), { recursive: true });
    Deno.writeTextFileSync(copy.file(path), text);
  }
  Deno.copyFileSync(join(top, "deno.json"), copy.file("deno.json"));
  Deno.mkdirSync(dirname(copy.file(path)), { recursive: true });
  Deno.writeTextFileSync(copy.file(path), lines, { append: true });
  return violations(await readModules(copy.path));
}

/** What was added and what the rules say of it. */
const additions: readonly (readonly [path: string, lines: string, complaint: RegExp])[] = [
  ["lib/events/time.ts", 'import "../session/session.ts";', /^lib\/events\/time\.ts imports lib\/session\/session\.ts: session comes after events$/],
  ["lib/programs/site.ts", 'import type { Header } from "../timeline/header.ts";', /timeline comes after programs$/],
  ["probes/ggml/lanes.ts", 'const later = () => import("../../lib/analysis/operators.ts");', /analysis comes after probes$/],
  ["exporters/json.ts", 'export * from "../lib/commands/cli.ts";', /commands comes after exporters$/],
  ["lib/session/tap.ts", 'import "../../main.ts";', /main comes after session$/],
  [
    "probes/ggml/graph.ts",
    'import other from "./ops.bt" with { type: "text" };',
    /imports probes\/ggml\/ops\.bt, which belongs to the file of its name$/,
  ],
  ["lib/target/maps.ts", 'import "./maps_test.ts";', /imports the test lib\/target\/maps_test\.ts$/],
  ["lib/machine/child.ts", 'import "jsr:@std/path";', /imports jsr:@std\/path: dependencies come from npm/],
  ["lib/machine/child.ts", 'import "https://example.org/x.ts";', /dependencies come from npm or are built in$/],
  ["lib/session/session.ts", "Deno.exit(1);", /^lib\/session\/session\.ts ends the process or handles signals$/],
  ["lib/commands/cli.ts", 'Deno.addSignalListener("SIGINT", () => {});', /ends the process or handles signals$/],
  ["lib/session/status.ts", 'console.error("x");', /^lib\/session\/status\.ts prints$/],
  ["exporters/text.ts", "Deno.stdout.writeSync(new Uint8Array());", /^exporters\/text\.ts prints$/],
  ["probes/memory/fault.ts", "const now = Date.now();", /^probes\/memory\/fault\.ts reads a clock$/],
  ["lib/analysis/figures.ts", "const now = performance.now();", /reads a clock$/],
  ["exporters/perfetto.ts", "const now = new Date();", /reads a clock$/],
  ["lib/timeline/merge.ts", "const now = Temporal.Now.instant();", /reads a clock$/],
  ["lib/events/utils.ts", "export {};", /named after nothing that it does$/],
  ["lib/elsewhere/x.ts", "export {};", /stands in no room$/],
];

for (const [path, lines, complaint] of additions) {
  Deno.test(`architecture: found when added to ${path}: ${lines}`, async () => {
    const found = await withLines(path, `\n${lines}\n`);
    assert.equal(found.length, 1, found.join("\n"));
    assert.match(found[0]!, complaint);
  });
}

Deno.test("architecture: what a comment says, and what a test does, is no violation", async () => {
  assert.deepEqual(await withLines("lib/timeline/merge.ts", "\n// As Date.now() would.\n/** Not console.log(). */\n"), []);
  assert.deepEqual(await withLines("lib/timeline/merge_test.ts", '\nimport "../session/session.ts";\nconsole.log(Date.now());\n'), []);
});
