import assert from "node:assert/strict";
import { temporary } from "../harness/temporary.ts";
import { sliceBytes } from "../judge/slice_bytes.ts";
import { unpacked } from "../judge/unpacked.ts";
import { runLlmprof } from "./llmprof.ts";

/** Of a slice of an operator of the demo: all of it, and its begin and its end without what it says of itself. */
const MOST = 88, MOST_WITHOUT = 26;

Deno.test("operators of a real run take 88 bytes each at most before they are compressed, their begin and their end 26", async () => {
  using folder = temporary();
  const [trace, lines] = ["t.pftrace", "t.jsonl"].map((name) => folder.file(name)) as [string, string];
  const { code, stderr } = await runLlmprof(["demo", "-o", trace, "-o", lines]);
  assert.equal(code, 0, stderr);
  const { begins, ends, bytes, said } = sliceBytes(unpacked(Deno.readFileSync(trace)), "ggml.op");
  const operators = Deno.readTextFileSync(lines).split("\n").filter((line) => line.includes('"category":"ggml.op"')).map((line) => JSON.parse(line));
  assert.ok(operators.length > 4000 && operators.every(({ args }) => args.tensor && args.shape), "they say what they are");
  assert.deepEqual([begins, ends], [operators.length, operators.length]);
  assert.ok(bytes / begins <= MOST, `${bytes / begins} bytes`);
  assert.ok((bytes - said) / begins <= MOST_WITHOUT, `${(bytes - said) / begins} bytes without what they say of themselves`);
});
