import assert from "node:assert/strict";
import { mustRun } from "../harness/command.ts";
import { linesOf, type Noted } from "./gpu_run.ts";

/** What scripts ask such a file, word by word, for functions of certain names. */
const SOUGHT = {
  'grep -E "Mem|Alloc" "$0" | jq .': /Mem|Alloc/,
  'grep Launch "$0" | jq .': /Launch/,
};

/** Compares the lines of `--cuda-jsonl`, and what is found in them by jq and a shell's tools, with what the stand-ins noted. */
export async function assertCudaLines(path: string, noted: readonly Noted[]): Promise<void> {
  const lines = linesOf(path).map((line) => JSON.parse(line));
  assert.ok(lines.every(({ ts, phase, pid }) => ts >= 0 && phase === "entry" && pid > 0));
  assert.deepEqual(new Set(lines.map(({ type }) => type)), new Set(["cuda_api", "cuda_runtime"]));
  const funcs = noted.filter(({ library }) => library.startsWith("cuda")).map(({ func }) => func);
  const asked = async (recipe: string) => (await mustRun(["sh", "-c", recipe, path])).stdout.trimEnd().split("\n");
  assert.deepEqual((await asked('jq -r .func "$0" | sort | uniq -c')).map((line) => line.trim()).sort(), counted(funcs));
  const first = (await asked(`head -100 "$0" | jq -r '[.ts, .func] | @tsv'`)).map((line) => line.split("\t"));
  assert.deepEqual(first.map(([ts, func]) => [Number(ts), func]), lines.slice(0, 100).map(({ ts, func }) => [ts, func]));
  for (const [recipe, names] of Object.entries(SOUGHT)) {
    const found = (await asked(recipe)).flatMap((line) => /^ {2}"func": "(.*)",$/.exec(line)?.[1] ?? []);
    assert.deepEqual(counted(found), counted(funcs.filter((func) => names.test(func))), recipe);
  }
}

/** As `uniq -c` tells it. */
function counted(funcs: readonly string[]): string[] {
  return [...Map.groupBy(funcs, (func) => func)].map(([func, all]) => `${all.length} ${func}`).sort();
}
