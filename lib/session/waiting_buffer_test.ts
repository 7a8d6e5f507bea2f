import assert from "node:assert/strict";
import { bytes } from "../../tests/harness/test_probe.ts";
import { WaitingBuffer } from "./waiting_buffer.ts";

function buffer() {
  let now = 0;
  const waiting = new WaitingBuffer(1000, () => now);
  return {
    waiting,
    push: (at: number, text: string) => {
      now = at;
      waiting.push(bytes(text));
    },
    taken: () => waiting.take().map((block) => new TextDecoder().decode(block)).join(""),
  };
}

Deno.test("waiting buffer: keeps what is young, counts the events that it lets go, and nothing else", () => {
  const { waiting, push, taken } = buffer();
  push(0, "3 5 1.0\nready\n1 6 0\n10 7 1 5\n(9, 8)\n10 9 1 6\n");
  push(500, "10 10 1 7\n@n: 3\n");
  push(1001, "10 11 1 8\n");
  assert.equal(waiting.discarded, 2);
  assert.equal(taken(), "10 10 1 7\n@n: 3\n10 11 1 8\n");
  assert.equal(taken(), "");
});

Deno.test("waiting buffer: a line that a block leaves unfinished goes with it, over several blocks too", () => {
  const { waiting, push, taken } = buffer();
  push(0, "10 7 1 5\n10 8 1");
  push(500, " ");
  push(600, "6\n10 9 1 7\n");
  push(1100, "10 10 1 8\n");
  assert.equal(waiting.discarded, 2);
  assert.equal(taken(), "10 9 1 7\n10 10 1 8\n");
});

Deno.test("waiting buffer: rows of maps that it lets go are events, too, and what their maps had been offered is told first", () => {
  const { waiting, push, taken } = buffer();
  const row = (map: number, at: number) => `@rows${map}[${at}, 0]: (10, 1, 5)\n`;
  push(0, `${row(0, 7)}${row(0, 8)}@offered0: 5\n(8, 9)\n@offered1: 0\n${row(2, 10)}`);
  push(500, `${row(2, 11)}@offered2: 3\n`);
  push(1001, "10 11 1 8\n");
  assert.equal(waiting.discarded, 3);
  assert.equal(taken(), `@offered0: 5\n@offered1: 0\n@offered2: 1\n${row(2, 11)}@offered2: 3\n10 11 1 8\n`);
});

Deno.test("waiting buffer: the last block stays, however old", () => {
  const { waiting, push, taken } = buffer();
  push(0, "10 7 1 5\n");
  push(5000, "10 8 1 6\n");
  assert.equal(waiting.discarded, 1);
  assert.equal(taken(), "10 8 1 6\n");
});
