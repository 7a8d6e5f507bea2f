import assert from "node:assert/strict";
import { Merge } from "./merge.ts";

interface Item {
  at: number;
  name: string;
}

function collect() {
  const out: string[] = [];
  return { out, merge: new Merge<Item>((item) => out.push(item.name)) };
}

Deno.test("an item waits until every stream has passed its time", () => {
  const { out, merge } = collect();
  const a = merge.input("a"), b = merge.input("b");
  a.push({ at: 5, name: "a5" });
  a.advance(10);
  assert.deepEqual(out, []);
  b.push({ at: 3, name: "b3" });
  b.advance(4);
  assert.deepEqual(out, ["b3"]);
  b.advance(6);
  assert.deepEqual(out, ["b3", "a5"]);
});

Deno.test("equal times leave in order of stream and arrival", () => {
  const { out, merge } = collect();
  const b = merge.input("b"), a = merge.input("a");
  b.push({ at: 1, name: "b1" });
  b.push({ at: 1, name: "b2" });
  a.push({ at: 1, name: "a1" });
  a.close();
  b.close();
  assert.deepEqual(out, ["a1", "b1", "b2"]);
});

Deno.test("disorder inside a stream is sorted, an item older than the promise is late and not lost", () => {
  const { out, merge } = collect();
  const a = merge.input("a");
  for (const at of [4, 2, 3]) a.push({ at, name: `a${at}` });
  a.advance(5);
  assert.equal(a.push({ at: 1, name: "late" }), true);
  assert.equal(a.push({ at: 6, name: "a6" }), false);
  a.close();
  assert.deepEqual(out, ["a2", "a3", "a4", "late", "a6"]);
});

Deno.test("the order does not depend on how reading was interleaved", () => {
  let seed = 7;
  const random = (n: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
  const streams = ["x", "y", "z"].map((rank) => {
    let at = 0;
    return {
      rank,
      lines: Array.from({ length: 200 }, (_, i) => (at += random(5), { at: Math.max(0, at - random(3)), beat: at - 3, name: `${rank}${i}` })),
    };
  });
  const run = (pick: () => number) => {
    const { out, merge } = collect();
    const inputs = streams.map((s) => merge.input(s.rank));
    const next = streams.map(() => 0);
    while (next.some((n, i) => n <= streams[i]!.lines.length)) {
      const i = pick() % 3;
      const line = streams[i]!.lines[next[i]!++];
      if (line) {
        inputs[i]!.push(line);
        inputs[i]!.advance(line.beat);
      } else inputs[i]!.close();
    }
    return out;
  };
  const first = run(() => random(3));
  assert.equal(first.length, 600);
  for (let i = 0; i < 20; i++) assert.deepEqual(run(() => random(3)), first);
});
