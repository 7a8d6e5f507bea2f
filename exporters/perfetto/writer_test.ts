import assert from "node:assert/strict";
import { MemorySink } from "../../tests/judge/memory_sink.ts";
import { ProtoWriter } from "./writer.ts";

/** What protobuf's own description says, with BigInt and slowly. */
function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
}

function written(write: (out: ProtoWriter) => void): Uint8Array {
  const sink = new MemorySink();
  const out = new ProtoWriter(sink);
  write(out);
  out.spill(1);
  return sink.bytes();
}

Deno.test("numbers are varints, exact to 2^53 and in two's complement below zero", () => {
  for (const value of [0, 1, 127, 128, 16383, 16384, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, -1, -4096, -(2 ** 53 - 1)]) {
    assert.deepEqual([...written((out) => out.int(1, value))], [8, ...varint(BigInt(value))], String(value));
  }
});

Deno.test("numbers above 2^53 are written from two halves", () => {
  for (const value of [0n, 5n, 1n << 28n, (1n << 53n) + 1n, 9_700_000_123_456_789n, (1n << 63n) + 7n, (1n << 64n) - 1n]) {
    const bytes = written((out) => out.wide(1, Number(value >> 28n), Number(value & 0xfffffffn)));
    assert.deepEqual([...bytes], [8, ...varint(value)], String(value));
  }
});

Deno.test("text is UTF-8, short and long", () => {
  for (const text of ["", "op", "säärver ☃", "x".repeat(127), "x".repeat(128), "é".repeat(9000), "y".repeat(400_000)]) {
    const bytes = new TextEncoder().encode(text);
    assert.deepEqual(written((out) => out.string(2, text)), Uint8Array.from([18, ...varint(BigInt(bytes.length)), ...bytes]), text.slice(0, 10));
  }
});

Deno.test("a message that is written again is as if it were written anew, whatever its number and its length", () => {
  const kept = written((out) => out.string(2, "y"));
  for (const value of [0, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1]) {
    for (const fields of [kept, new Uint8Array(200).fill(8)]) {
      const anew = written((out) => {
        const message = out.begin(1);
        out.encoded(fields);
        out.uint(8, value);
        out.end(message);
      });
      assert.deepEqual(written((out) => out.again(1, fields, 8, value)), anew, `${value}, ${fields.length} bytes`);
    }
  }
});

Deno.test("a message has the length of what is in it, of any size", () => {
  for (const size of [0, 100, 124, 125, 126, 300, 16_380, 16_384, 20_000, 2_097_140, 2_097_160, 3_000_000]) {
    const bytes = written((out) => {
      const message = out.begin(1);
      out.string(1, "z".repeat(size));
      out.end(message);
      out.uint(3, 1);
    });
    let at = 1;
    let length = 0;
    for (let shift = 1;; shift *= 128) {
      length += (bytes[at]! & 127) * shift;
      if (bytes[at++]! < 128) break;
    }
    assert.equal(at + length, bytes.length - 2, `${size}`);
    assert.deepEqual([...bytes.subarray(-2)], [24, 1]);
  }
});
