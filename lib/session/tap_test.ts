import assert from "node:assert/strict";
import { bytes } from "../../tests/harness/test_probe.ts";
import { Tap } from "./tap.ts";

function tap() {
  const seen: string[] = [];
  const end = (name: string) => ({
    write: (block: Uint8Array) => void seen.push(`${name}: ${new TextDecoder().decode(block)}`),
    close: () => void seen.push(`${name} closed`),
  });
  let now = 0;
  return { seen, tap: new Tap(() => now), input: end("timeline"), writer: end("recording"), later: (at: number) => now = at };
}

Deno.test("tap: what came before is passed on in order, to the recording first", () => {
  const { seen, tap: t, input, writer } = tap();
  t.write(bytes("a"));
  t.write(bytes("b"));
  assert.ok(!t.connected);
  assert.equal(t.connect(input, writer), 0);
  assert.ok(t.connected);
  t.write(bytes("c"));
  t.close();
  t.close();
  t.write(bytes("after its end"));
  assert.deepEqual(seen, [
    "recording: a",
    "timeline: a",
    "recording: b",
    "timeline: b",
    "recording: c",
    "timeline: c",
    "timeline closed",
    "recording closed",
  ]);
  assert.equal(t.delivered, 3);
});

Deno.test("tap: while it waits somebody may look on; what became too old is counted", () => {
  const { seen, tap: t, input, later } = tap();
  const looked: string[] = [];
  t.whileWaiting = (block) => void looked.push(new TextDecoder().decode(block));
  t.write(bytes("10 1 1 1\n"));
  later(120_001);
  t.write(bytes("10 2 1 1\n"));
  assert.equal(t.connect(input, null), 1);
  t.write(bytes("10 3 1 1\n"));
  assert.deepEqual(looked, ["10 1 1 1\n", "10 2 1 1\n"]);
  assert.deepEqual(seen, ["timeline: 10 2 1 1\n", "timeline: 10 3 1 1\n"]);
});

Deno.test("tap: one whose program ended before it was connected passes on what it said, and its end", () => {
  const { seen, tap: t, input, writer } = tap();
  t.write(bytes("a"));
  t.close();
  t.connect(input, writer);
  assert.deepEqual(seen, ["recording: a", "timeline: a", "timeline closed", "recording closed"]);
});
