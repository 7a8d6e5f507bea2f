import assert from "node:assert/strict";
import { printed } from "../../tests/harness/lines.ts";
import type { Event } from "../events/event.ts";
import { splitBase } from "../events/time.ts";
import type { StreamSchema } from "../programs/schema.ts";
import { ALIGNED } from "../programs/short_line.ts";
import { LineSplitter } from "./lines.ts";
import { LineParser } from "./parse.ts";

const schema: StreamSchema = {
  stream: "s",
  records: {
    1: { name: "window.open", fields: [] },
    3: { name: "clock", fields: [] },
    10: { name: "p.hit", fields: [{ name: "x", type: "int" }, { name: "began", type: "time" }, { name: "name", type: "text" }] },
    11: { name: "p.thin", fields: [{ name: "x", type: "int" }] },
  },
  maps: { bytes: "p.bytes" },
  disorderNs: 0,
};

function parse(lines: string[], base = 1_000_000_000n, more: Partial<StreamSchema> = {}): unknown[] {
  const seen: unknown[] = [];
  const note = (name: string) => (...args: unknown[]) => void seen.push([name, ...args]);
  const handler = {
    event: (event: Event) => void seen.push(["event", event]),
    snapshot: note("snapshot"),
    beat: note("beat"),
    swept: note("swept"),
    emitted: note("emitted"),
    window: note("window"),
    lost: note("lost"),
    undecodable: note("undecodable"),
  };
  const parser = new LineParser({ ...schema, ...more }, splitBase(base), handler);
  const bytes = new TextEncoder().encode(lines.map((line) => `${printed(line)}\n`).join(""));
  parser.lines(bytes, 0, bytes.length);
  return seen;
}

Deno.test("a record is read with its time, process, integers, times and text", () => {
  const line = "10 1000000005 42/43 -7 1000000001 61 20 c3 a9 00 ff ff";
  assert.deepEqual(parse([line]), [["event", { at: 5, stream: "s", record: "p.hit", pid: 42, tid: 43, values: [-7, 1, "a é"] }]]);
});

Deno.test("process and thread are read up to the highest ids that a kernel gives", () => {
  const whos = [[4194303, 4194303], [4194303, 0], [0, 1], [1, 4194303]] as const;
  const read = parse(whos.map(([pid, tid]) => `11 1000000005 ${pid}/${tid} 0`)) as [string, Event][];
  assert.deepEqual(read.map(([, { pid, tid }]) => [pid, tid]), whos);
});

Deno.test("a short line tells thread and address in one number, of the process that the thread's last whole line named", () => {
  const records = { 20: { name: "q.op", fields: [{ name: "t", type: "int", unit: ALIGNED }] }, 21: { name: "q.worker", fields: [] } } as const;
  // As a program computes it, in 64 bits.
  const short = (address: bigint, tid: number) => `x${BigInt.asUintN(64, (address << 18n) + BigInt(tid)).toString(16)}`;
  const [low, high] = [2n ** 46n, 2n ** 47n - 16n];
  const lines = [
    "21 1 42/4194303",
    `20 2 ${short(low, 4194303)}`,
    `20 3 ${short(high, 4194303)}`,
    "20 4 7/9 140234923423424",
    `20 5 ${short(high, 9)}`,
    "21 6 8/9",
    `20 7 ${short(high, 9)}`,
  ];
  const told = parse(lines, 0n, { records }) as [string, Event | string][];
  const seen = told.map(([, event]) => typeof event === "string" ? event : [event.record, event.pid, event.tid, ...event.values]);
  assert.deepEqual(seen, [
    ["q.worker", 42, 4194303],
    ["q.op", 42, 4194303, Number(low)],
    ["q.op", 42, 4194303, Number(high)],
    ["q.op", 7, 9, 140234923423424],
    lines[4],
    ["q.worker", 8, 9],
    ["q.op", 8, 9, Number(high)],
  ]);
  const strange = ["20 1 x", "20 1 xg", `20 1 x${"0".repeat(17)}`, "20 1 x9 1", "20 1 x9 ", "20 1 X9", "20 1 x-9", "21 1 x9", "11 1 x9"];
  const read = parse(["21 1 1/9", ...strange], 0n, { records: { ...schema.records, ...records } }).slice(1);
  assert.deepEqual(read, strange.map((line) => ["undecodable", line]));
});

Deno.test("time is exact above 2^53 nanoseconds", () => {
  const base = 9_007_199_254_740_993n;
  assert.deepEqual(parse(["11 9007199254740996 1/1 0"], base), [["event", { at: 3, stream: "s", record: "p.thin", pid: 1, tid: 1, values: [0] }]]);
  assert.deepEqual(parse(["(9, 9007199254740992)"], base), [["beat", -1]]);
});

Deno.test("heartbeat, counter, map rows, windows and loss", () => {
  const lines = ["ready", "", "3 1000000000 1795248402.5", "1 1000000007 0", "@bytes[1, 2]: 5", "(9, 1000000009)", "@n: 12", "@bytes[1, 2]: 5"];
  assert.deepEqual(parse([...lines, "@tree[5]: 1", "Lost 17 events"]), [
    ["window", 7, true],
    ["beat", 9],
    ["emitted", 12],
    ["snapshot", { at: 9, stream: "s", map: "p.bytes", key: [1, 2], value: 5 }, "@bytes[1, 2]: 5"],
    ["lost", 17],
  ]);
});

Deno.test("a heartbeat tells its buffer where there are several, and counts when all have told", () => {
  const lines = ["(9, 7, 0)", "(9, 6, 1)", "(9, 8, 1)", "(9, 8)", "(9, 9, 12345)", "(8, 9, 1)"];
  const undecodable = lines.slice(3).map((line) => ["undecodable", line]);
  assert.deepEqual(parse(lines, 0n, { buffers: 2 }), [["beat", 7 - 10e9], ["beat", 6], ["beat", 7], ...undecodable]);
  assert.deepEqual(parse(["(9, 7, 0)"], 0n), [["undecodable", "(9, 7, 0)"]]);
});

Deno.test("one of several buffers that is silent holds nobody back where all lines that the kernel counted have come", () => {
  const told = ["3 1 1795248402.5", "1 7 0", "11 8 1/1 0", "(9, 9, 0)"];
  const calls = (lines: number) => parse([...told, `@lines: ${lines}`], 0n, { buffers: 2 }).slice(2);
  assert.deepEqual(calls(3), [["beat", 9 - 10e9], ["beat", 9]]);
  assert.deepEqual(calls(4), [["beat", 9 - 10e9]], "one is on its way");
  assert.deepEqual(parse(["(9, 9)", "@lines: 0"], 0n), [["beat", 9]], "says nothing where there is one buffer");
});

Deno.test("what fits no grammar is handed on, not dropped", () => {
  const lines = [
    "11 1000000001 1/1",
    "11 1000000001 1/1 2 3",
    "12 1000000001 1/1",
    "11 x 1/1 1",
    "10 1000000001 1/1 1 1000000001 6",
    "3 1000000000",
    "(9, )",
    "Segfault",
    "11",
    "11 1000000001 -1 0",
    "11 1000000001 17592186044416 0",
    "11 1000000001 1.5 0",
    "11 1000000001 99999999999999999999 0",
  ];
  assert.deepEqual(parse(lines), lines.map((line) => ["undecodable", printed(line)]));
});

/** The text of a record whose bytes these are. */
function textIn(bytes: Uint8Array): unknown {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const [[, event]] = parse([`10 1000000005 1/1 0 1000000001 ${hex}`]) as [[string, { values: unknown[] }]];
  return event.values[2];
}

Deno.test("a text that fills its field is marked as the beginning of a longer one, without half a character at its end", () => {
  const padded = (text: string) => new Uint8Array([...new TextEncoder().encode(text), 0, 0xff]).subarray(0, 64);
  assert.equal(textIn(padded("x".repeat(63))), "x".repeat(63));
  assert.equal(textIn(padded("x".repeat(70))), "x".repeat(64) + "…");
  assert.equal(textIn(padded("é".repeat(40))), "é".repeat(32) + "…");
  assert.equal(textIn(padded("x" + "é".repeat(40))), "x" + "é".repeat(31) + "…");
  assert.equal(textIn(padded("x".repeat(62) + "☃")), "x".repeat(62) + "…");
  assert.equal(textIn(padded("x".repeat(60) + "💥")), "x".repeat(60) + "💥…");
});

Deno.test("bytes that are no UTF-8 are spelled, each, and make no name look shortened", () => {
  assert.equal(textIn(Uint8Array.of(0x61, 0xff, 0xc3, 0xa9, 0xc3, 0x62)), "a\\xffé\\xc3b");
  assert.equal(textIn(new Uint8Array(63).fill(0xfe)), "\\xfe".repeat(63));
  assert.equal(
    textIn(Uint8Array.of(0xed, 0xa0, 0x80, 0xc0, 0xaf, 0xf5, 0x80)),
    "\\xed\\xa0\\x80\\xc0\\xaf\\xf5\\x80",
    "half a surrogate, overlong, beyond Unicode",
  );
  assert.equal(textIn(new TextEncoder().encode("\ufeffa\ufffd")), "\ufeffa\ufffd", "what is UTF-8 is kept");
});

function linesIn(block: Uint8Array, from: number, to: number): string[] {
  assert.equal(block[to - 1], 10, "every line has its end");
  return new TextDecoder().decode(block.subarray(from, to - 1)).split("\n");
}

Deno.test("a line that is too long is one line that cannot be read, and no more of it is kept than its beginning", () => {
  for (const cut of [1, 7, 50, 200]) {
    const splitter = new LineSplitter(20);
    const lines: string[] = [];
    const bytes = new TextEncoder().encode(`before\n${"x".repeat(100)}\nafter\nend`);
    for (let i = 0; i < bytes.length; i += cut) splitter.push(bytes.slice(i, i + cut), (block, from, to) => lines.push(...linesIn(block, from, to)));
    assert.deepEqual(lines.map((line) => line.slice(0, 6)), ["before", lines[1]!.slice(0, 6), "after"]);
    assert.equal(splitter.rest(), "end");
    if (cut < 50) assert.match(lines[1]!, /^longer than 20 bytes: x+$/);
  }
});

Deno.test("lines are the same however the bytes are cut", () => {
  const bytes = new TextEncoder().encode("a é\n\nlonger line\nrest");
  for (let cut = 1; cut <= bytes.length; cut++) {
    const splitter = new LineSplitter();
    const lines: string[] = [];
    for (let i = 0; i < bytes.length; i += cut) splitter.push(bytes.slice(i, i + cut), (block, from, to) => lines.push(...linesIn(block, from, to)));
    assert.deepEqual([...lines, splitter.rest()], ["a é", "", "longer line", "rest"]);
  }
});
