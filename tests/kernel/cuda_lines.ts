import assert from "node:assert/strict";
import { mustRun } from "../harness/command.ts";
import { linesOf, type Noted } from "./gpu_run.ts";

/** What scripts ask such a file, word by word, for functions of certain names. */
const SOUGHT = {
  'grep -E "Mem|Alloc" "$0" | jq .': /Mem|Alloc/,
  'grep Launch "$0" | jq .': /Launch/,
};

/** Whose calls a line's type stands for. */
const LIBRARIES = { cuda_api: "cuda", cuda_runtime: "cudart" };

/** Compares the lines of `--cuda-jsonl`, and what is found in them by jq and a shell's tools, with what the stand-ins noted. */
export async function assertCudaLines(path: string, noted: readonly Noted[], ownNumbers: boolean): Promise<void> {
  const lines = linesOf(path).map((line) => JSON.parse(line));
  assert.ok(lines.every(({ ts, phase, pid }) => ts >= 0 && phase === "entry" && pid > 0));
  assert.deepEqual(new Set(lines.map(({ type }) => type)), new Set(Object.keys(LIBRARIES)));
  // A container's books have numbers of its own.
  if (!ownNumbers) {
    for (const [type, library] of Object.entries(LIBRARIES)) {
      assertLines(lines.filter((line) => line.type === type), noted, library);
    }
  }
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

/** Of addresses a line says no bytes: nothing lies there by such a call. */
const OF_ADDRESSES = /^cuMem(?:Address|Map|Unmap|SetAccess)/;

interface Line extends Pick<Noted, "pid" | "tid" | "func" | "ret"> {
  readonly ts: number;
  readonly bytes?: number;
  readonly stream?: number;
}

/** Each thread's calls of a library, in the order in which they began. */
function assertLines(lines: readonly Line[], noted: readonly Noted[], library: string): void {
  const threadOf = ({ pid, tid }: Pick<Line, "pid" | "tid">) => `${pid} ${tid}`;
  const told = Map.groupBy(lines, threadOf), books = Map.groupBy(noted.filter((call) => call.library === library), threadOf);
  assert.deepEqual([...told.keys()].sort(), [...books.keys()].sort(), library);
  for (const [thread, calls] of books) {
    const own = told.get(thread)!.toSorted((a, b) => a.ts - b.ts);
    assert.deepEqual(own.map(({ func, ret }) => [func, ret]), calls.map(({ func, ret }) => [func, ret]), `${library}, thread ${thread}`);
    for (const [i, { func, bytes, stream }] of calls.entries()) {
      if (bytes !== undefined) assert.equal(own[i]!.bytes, OF_ADDRESSES.test(func) ? undefined : bytes, `bytes of ${func}`);
      if (stream !== undefined) assert.equal(own[i]!.stream, stream === "(nil)" ? 0 : Number(stream), `stream of ${func}`);
    }
  }
}

/** As `uniq -c` tells it. */
function counted(funcs: readonly string[]): string[] {
  return [...Map.groupBy(funcs, (func) => func)].map(([func, all]) => `${all.length} ${func}`).sort();
}
