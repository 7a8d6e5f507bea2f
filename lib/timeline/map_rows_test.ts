import assert from "node:assert/strict";
import { printed } from "../../tests/harness/lines.ts";
import { bytes } from "../../tests/harness/test_probe.ts";
import { splitBase } from "../events/time.ts";
import type { StreamSchema } from "../programs/schema.ts";
import { LineParser } from "./parse.ts";

const schema: StreamSchema = {
  stream: "s",
  records: {
    10: { name: "p.pair", fields: [{ name: "x", type: "int" }, { name: "y", type: "int" }] },
    11: { name: "p.none", fields: [] },
    12: { name: "p.line", fields: [] },
  },
  maps: {},
  disorderNs: 0,
  rows: ["p.pair", "p.none"],
};

/** What a stream's lines mean: `10 at 5: 7/8 -5,2`, `swept, 3 refused`, `? <line>`. */
function reader(base = 0n): (...lines: string[]) => string[] {
  let seen: string[] = [];
  const nothing = () => {};
  const parser = new LineParser(schema, splitBase(base), {
    event: ({ at, pid, tid, values }, kind) => seen.push(`${kind} at ${at}: ${pid}/${tid} ${values}`.trimEnd()),
    swept: (_, refused) => seen.push(`swept, ${refused} refused`),
    undecodable: (line) => seen.push(`? ${line}`),
    snapshot: nothing,
    beat: nothing,
    emitted: nothing,
    window: nothing,
    lost: nothing,
  });
  return (...lines) => {
    seen = [];
    const block = bytes(lines.map((line) => printed(line) + "\n").join(""));
    parser.lines(block, 0, block.length);
    return seen;
  };
}

Deno.test("map rows: a row is a record, without the zeros that fill it up; lines go on beside it", () => {
  const says = reader(9_700_000_000_000_000n);
  const row = "@rows0[9700000000000001, 1]: (10, 7/8, -5, 140727104820264)";
  assert.deepEqual(says(row, "12 9700000000000002 7/7", "@rows2[9700000000000003, 12]: (11, 7/8, 0, 0)"), [
    "10 at 1: 7/8 -5,140727104820264",
    "12 at 2: 7/7",
    "11 at 3: 7/8",
  ]);
});

Deno.test("map rows: what is no row of a record is handed on", () => {
  const broken = [
    "@rows0[1, 1]: (12, 1/1)",
    "@rows0[1, 1]: (10, 1/1, 2",
    "@rows0[1, 1]: (10, 1/1, 2)",
    "@rows0[1, 1]: (10, 1/1, 2, 3, )",
    "@rows0[1, 1]: (10, 1/1, 2, 3,4)",
    "@rows0[1, 1]: (10, 1/1, 2, 3) ",
    "@rows0[1, 1]: (10, 1/1, 2, 3)0",
    "@rows0[1, 1]: (010, 1/1, 2, 3)",
    "@rows0[1, 1]: (10, -1, 2, 3)",
    "@rows0[1, 1]: (10, 17592186044416, 2, 3)",
    "@rows0[1, 1]: (11, 1/1, 0, 4)",
    "@rows0[1, 1]: (11, 1/1, x)",
    "@rows0[1, 1]: ()",
    "@rows0[1, 1] (11, 1/1)",
    "@rows0[1, -1]: (11, 1/1)",
    "@rows0[1]: (11, 1/1)",
    "@rows0[]: (11, 1/1)",
    "@rows0[1, 1, 11, 1]: (11, 1/1)",
    "@rows3[1, 1]: (11, 1/1)",
    "@rows01, 1]: (11, 1/1)",
    "@rows0[1, 1]: 5",
    "@rows0[",
    "@rows0",
    "@rows",
    "@rows0[1, 1]: (11, 1/1)@rows0[1, 1]: (11, 1/1)",
    "@offered0: ",
    "@offered3: 5",
    "@offered0: 5 ",
  ];
  for (const line of broken) assert.deepEqual(reader()(line), [`? ${printed(line)}`], line);
});

Deno.test("map rows: a print that is repeated is left out, equal times on two processors are not", () => {
  const says = reader();
  const print = (map: number, ...times: number[]) => says(...times.map((at) => `@rows${map}[${at}, ${at % 2}]: (11, 1/1, 0, 0)`)).length;
  assert.equal(print(0, 1, 2, 3), 3);
  assert.equal(print(0, 1, 2, 3), 0);
  says("(8, 4)");
  assert.equal(print(0, 4), 1);
  assert.equal(print(1, 4, 5), 2);
  assert.equal(print(0, 4), 0);
  assert.equal(print(0, 5, 6), 2);
  assert.deepEqual(says("@rows0[6, 1]: (11, 1/1, 0, 0)"), ["11 at 6: 1/1"]);
});

Deno.test("map rows: what a full map refused is known when it is swept, once", () => {
  const says = reader();
  const row = (map: number, at: number) => `@rows${map}[${at}, 0]: (11, 1/1, 0, 0)`;
  assert.deepEqual(says(row(0, 1), row(0, 2), "@offered0: 5", "(8, 3)").at(-1), "swept, 3 refused");
  assert.deepEqual(says("@offered1: 0", "(8, 4)"), ["swept, 0 refused"]);
  assert.deepEqual(says(row(0, 6), "@offered0: 7", "(8, 7)").at(-1), "swept, 1 refused");
});

Deno.test("map rows: what a map was offered before the first row that was kept is not refused, and what it refuses behind that is", () => {
  const says = reader();
  const row = (at: number) => `@rows0[${at}, 0]: (11, 1/1, 0, 0)`;
  assert.deepEqual(says("@offered0: 100", row(6), "@offered0: 101", "(8, 7)").at(-1), "swept, 0 refused");
  assert.deepEqual(says(row(8), "@offered0: 104", "(8, 9)").at(-1), "swept, 2 refused");
  assert.deepEqual(says("@offered1: 3", "(8, 10)").at(-1), "swept, 3 refused");
});
