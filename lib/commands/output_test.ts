import assert from "node:assert/strict";
import { openJsonl } from "../../exporters/jsonl.ts";
import { MemorySink } from "../../tests/judge/memory_sink.ts";
import { head, spans } from "../../tests/judge/corpus.ts";
import type { LlmprofError } from "../events/errors.ts";
import { TraceOutput } from "./output.ts";

const file = (path: string) => ({ path, shown: path, format: "jsonl", opensWith: "" });

/** What is on a disk that takes so many writes. */
class FailingSink extends MemorySink {
  constructor(private left: number, readonly said: string) {
    super();
  }

  override write(bytes: Uint8Array): void {
    if (this.left-- <= 0) throw new Error(this.said);
    super.write(bytes);
  }
}

/** As Deno says what a disk refuses, and what is told of it. */
const refused = [
  ["No space left on device (os error 28)", "The disk is full.", "What was written until then is kept. Make room, or choose"],
  [
    "Disk quota exceeded (os error 122)",
    "A quota of that disk is used up (see quota -s).",
    "What was written until then is kept. Delete what is not needed there, or choose",
  ],
  [
    "File too large (os error 27)",
    "It is as long as a file may be there (see ulimit -f).",
    "What was written until then is kept. Raise that limit, or choose",
  ],
  [
    "Input/output error (os error 5)",
    "The disk, or what leads to it, has failed (see dmesg).",
    "Of what was written until then parts may be missing. Choose",
  ],
] as const;

Deno.test("output: whatever its disk refuses, it is told once, takes no more, and the others are whole", () => {
  for (const [said, why, next] of refused) {
    const failures: LlmprofError[] = [];
    const sinks = [new FailingSink(1, said), new MemorySink()], alone = new MemorySink();
    const outputs = sinks.map((sink, i) => new TraceOutput(file(`${i}.jsonl`), (failure) => void failures.push(failure), sink, openJsonl));
    for (const output of [...outputs, new TraceOutput(file("alone.jsonl"), assert.fail, alone, openJsonl)]) {
      output.begin(head);
      for (const span of spans) {
        output.span(span);
        output.flush();
      }
      output.finish([]);
    }
    assert.deepEqual(failures.map(({ what, why, next, exitCode }) => [what, why, next, exitCode]), [
      ["Cannot go on writing 0.jsonl.", why, `${next} another place with -o PATH.`, 1],
    ]);
    assert.deepEqual(outputs.map(({ failure }) => failure), [failures[0], undefined]);
    assert.equal(sinks[1]!.text(), alone.text());
    const [kept, whole] = sinks.map((sink) => sink.text());
    assert.ok(kept!.length > 0 && kept!.length < whole!.length && whole!.startsWith(kept!));
  }
});
