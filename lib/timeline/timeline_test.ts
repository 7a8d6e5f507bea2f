import assert from "node:assert/strict";
import { tell } from "../../tests/harness/decoding.ts";
import { printed } from "../../tests/harness/lines.ts";
import { bytes, testProbe, testSchema } from "../../tests/harness/test_probe.ts";
import type { Decoder } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { splitBase } from "../events/time.ts";
import { factLine, hostSchema } from "./host.ts";
import { Pseudonyms } from "./pseudonyms.ts";
import { redacted, Redaction } from "./redaction.ts";
import { countsOf } from "./tally.ts";
import { type StreamInput, Timeline, type TimelineOptions } from "./timeline.ts";

const base = 9_700_000_000_000_000n;

/** `10 +5 100/100 7` → with the absolute time and the one number that a program would print. */
function lines(...texts: string[]): Uint8Array {
  return bytes(texts.map((text) => printed(text).replace(/\+(\d+)/, (_, at) => String(base + BigInt(at))) + "\n").join(""));
}

function timeline(more: Partial<TimelineOptions> = {}) {
  const spans: string[] = [];
  const t = new Timeline({
    base: splitBase(base),
    find: (name) => name === testProbe.name ? testProbe : undefined,
    out: (span) => void spans.push(tell(span)),
    ...more,
  });
  const add = (stream: string, from?: number): StreamInput => t.add(testSchema(stream), from);
  const fact = (host: StreamInput, at: number, fact: Fact) => host.write(bytes(factLine(fact, base + BigInt(at))));
  return { t, spans, add, fact };
}

Deno.test("timeline: lines of two streams become spans in order of time", () => {
  const { t, spans, add } = timeline();
  const a = add("a"), b = add("b");
  a.write(lines("3 +1 0.0", "ready", "1 +2 0", "11 +10 100/100", "12 +30 100/100", "@sum: 5", "(9, +40)", "@sum: 7", "2 +45 0"));
  b.write(lines("1 +3 0", "10 +20 100/101 7", "2 +44 0"));
  assert.deepEqual(spans, [], "b has promised nothing yet");
  b.close();
  a.close();
  t.finish();
  assert.deepEqual(spans, [
    "mark window 2 a: a: all probes count from here",
    "mark window 3 b: b: all probes count from here",
    '100/101 hit "7" 20',
    '100/100 call "f" 10–30',
    "1 <sum> = 7 at 40",
    "mark window 44 b: b: all probes stopped counting",
    "mark window 45 a: a: all probes stopped counting",
  ]);
  assert.deepEqual([t.start, t.end], [2, 45]);
});

for (const first of ["a", "host"] as const) {
  Deno.test(`timeline: at llmprof's heartbeat decoders tell what they hold, whichever stream is read first: ${first}`, () => {
    const decoder = (): Decoder => {
      let held = 0;
      return {
        event: () => void held++,
        beat: (out) => out({ type: "mark", at: 0, kind: "note", stream: "t", text: `held ${held}` }),
        end: () => {},
      };
    };
    const { t, spans, add } = timeline({ find: (name) => name === testProbe.name ? { ...testProbe, decoder } : undefined });
    const host = t.add(hostSchema);
    const streams = { a: add("a"), host };
    const told = { a: lines("10 +10 1/1 7", "10 +30 1/1 7", "10 +31 1/1 7", "(9, +60)"), host: lines("(9, +20)", "(9, +40)", "(9, +70)") };
    for (const name of first === "a" ? ["a", "host"] as const : ["host", "a"] as const) streams[name].write(told[name]);
    assert.deepEqual(spans, ["mark note 0 t: held 1", "mark note 0 t: held 3"]);
  });
}

Deno.test("timeline: records that come late as rows of maps are in order of time with the lines", () => {
  const { t, spans } = timeline();
  const a = t.add({ ...testSchema("a"), rows: ["t/p.begin", "t/p.end"] });
  a.write(lines("1 +2 0", "10 +20 1/1 7", "(9, +50)", "", "@rows0[+10, 1]: (11, 1/1, 0)", "@rows0[+30, 0]: (12, 1/1, 0)", "(8, +40)"));
  assert.deepEqual(spans.slice(1), ['1/1 hit "7" 20', '1/1 call "f" 10–30']);
  a.write(lines("@rows1[+41, 1]: (11, 1/1, 0)", "(9, +60)", "@offered1: 3", "(8, +43)", "@n: 7"));
  // Ended in the middle of a sweep, it prints a map once more.
  a.write(lines("@rows1[+41, 1]: (11, 1/1, 0)", "@rows2[+45, 1]: (12, 1/1, 0)", "@rows2[+46, 1]: (9, 1/1, 0)"));
  a.close();
  t.finish();
  assert.deepEqual(spans.slice(3, 5), ["mark lost 43 a: a: more came than bpftrace can print (2)", '1/1 call "f" 41–45']);
  assert.deepEqual(countsOf(t.tallies.values()), { emitted: 7, received: 5, lost: 2, undecodable: 1 });
});

Deno.test("timeline: what was emitted and did not arrive is a mark where counting stopped, and a number", () => {
  const { t, spans, add } = timeline();
  const a = add("a");
  a.write(lines("1 +2 0", "10 +10 1/1 7", "10 +11 1/1 8", "2 +20 0", "@n: 9", "(9, +40)"));
  a.close();
  t.finish();
  assert.equal(spans.at(-1), "mark lost 20 a: a: emitted in the kernel and never delivered (7)");
  assert.deepEqual(countsOf(t.tallies.values()), { emitted: 9, received: 2, lost: 7, undecodable: 0 });
  assert.deepEqual([...t.tallies.get("a")!.hits], [["t/p.hit", 2]]);
});

Deno.test("timeline: what bpftrace reports as lost is told once to who watches, and is no loss that nothing explains at the end", () => {
  const { t, spans } = timeline();
  const told: (number | string)[] = [];
  const a = t.add(testSchema("a"), undefined, { lost: (count) => void told.push(count), beat: () => void told.push("beat") });
  a.write(lines("1 +2 0", "10 +10 1/1 7", "Lost 5 events", "Lost 1 events", "10 +30 1/1 8", "(9, +35)", "@n: 10", "(9, +38)", "2 +40 0"));
  a.close();
  assert.deepEqual(told, ["beat", 6, "beat"]);
  assert.deepEqual(spans.filter((s) => s.startsWith("mark lost")), ["mark lost 40 a: a: emitted in the kernel and never delivered (2)"]);
  assert.equal(countsOf(t.tallies.values()).lost, 8);
});

Deno.test("timeline: a line that nobody understands is a mark; before the first event it stands at the beginning", () => {
  const { t, spans, add } = timeline();
  const a = add("a");
  a.write(lines("WARNING: of a kind that nobody foresaw", "1 +2 0", "10 +10 1/1 x", "2 +20 0"));
  a.close();
  assert.deepEqual(spans.filter((s) => s.startsWith("mark undecodable")), [
    "mark undecodable 0 a: a: not understood: WARNING: of a kind that nobody foresaw (1)",
    `mark undecodable 2 a: a: not understood: ${printed(`10 ${base + 10n} 1/1 x`)} (1)`,
  ]);
  assert.equal(countsOf(t.tallies.values()).undecodable, 2);
});

Deno.test("timeline: behind the last count maps are printed once more, and nobody misses the end of one", () => {
  const hidden = (a: StreamInput) => redacted(new Redaction(testSchema("a"), new Pseudonyms(), () => testProbe), a, null);
  // Of the second, nothing promises that all has come: the heartbeat is older than the end.
  for (const [beat, undecodable, redacts] of [["+40", 0, false], ["+20", 1, false], ["+40", 0, true], ["+20", 1, true]] as const) {
    const { t, add } = timeline();
    const a = redacts ? hidden(add("a")) : add("a");
    a.write(lines("1 +2 0", "10 +10 1/1 7", "2 +30 0", `(9, ${beat})`, "@n: 1"));
    a.write(bytes("@sum["));
    a.close();
    t.finish();
    assert.deepEqual(countsOf(t.tallies.values()), { emitted: 1, received: 1, lost: 0, undecodable });
  }
});

Deno.test("timeline: a row of a map whose key has other numbers than its probe's is not understood", () => {
  const maps = { sum: { key: ["pid", "call"], unit: "bytes" } };
  const { t, spans, add } = timeline({ find: (name) => name === testProbe.name ? { ...testProbe, maps } : undefined });
  const a = add("a");
  a.write(lines("1 +2 0", "(9, +5)", "@sum: 5", "@sum[1]: 6", "@sum[1, 2]: 7", "@sum[1, 2, 3]: 8", "2 +9 0"));
  a.close();
  assert.deepEqual(spans.slice(1, -1), [
    ...["@sum: 5", "@sum[1]: 6"].map((row) => `mark undecodable 5 a: a: not understood: ${row} (1)`),
    "1 <sum> = 7 at 5",
    "mark undecodable 5 a: a: not understood: @sum[1, 2, 3]: 8 (1)",
  ]);
  assert.equal(countsOf(t.tallies.values()).undecodable, 3);
});

Deno.test("timeline: a last line without its end is not believed: a killed writer may have cut a number", () => {
  const { t, spans, add } = timeline();
  const a = add("a");
  a.write(lines("1 +2 0", "10 +10 1/1 7"));
  a.write(bytes(printed(`10 ${base + 11n} 1/1 12`)));
  a.close();
  t.finish();
  assert.deepEqual(spans.slice(1), [
    '1/1 hit "7" 10',
    `mark undecodable 10 a: a: not understood: ${printed(`10 ${base + 11n} 1/1 12`)} (1)`,
    "mark note 10 a: a: cut off 0.000 s after counting began: what it would have told later is missing",
    "mark window 10 a: a: nothing is known from here on",
  ]);
});

Deno.test("timeline: what is open ends when counting stopped, not when llmprof said its last word", () => {
  const { t, spans, add, fact } = timeline();
  const host = t.add(hostSchema);
  const a = add("a");
  a.write(lines("1 +2 0", "11 +10 100/100", "2 +50 0", "(9, +90)"));
  fact(host, 80, { fact: "cpu", bpftrace: 1, llmprof: 1 });
  a.close();
  host.close();
  t.finish();
  assert.equal(spans.at(-1), '100/100 call "f" 10–50 (open)');
  assert.equal(t.end, 50);
});

Deno.test("timeline: what began on another processor just as the last window was shut is there, with no length", () => {
  for (const isTurn of [false, true]) {
    const { t, spans, add, fact } = timeline();
    const host = t.add(hostSchema);
    const a = add("a");
    a.write(lines("1 +2 0", "2 +50 0", "11 +51 100/100", "(9, +90)"));
    if (isTurn) fact(host, 80, { fact: "ended", pid: 100 });
    a.close();
    host.close();
    t.finish();
    assert.ok(spans.includes('100/100 call "f" 51–51 (open)'), spans.join());
    assert.equal(t.end, 50);
  }
});

Deno.test("timeline: a stream that never closed ends with its last sign of life", () => {
  const { t, spans, add } = timeline();
  const a = add("a");
  a.write(lines("1 +2 0", "11 +10 100/100", "(9, +40)"));
  a.close();
  t.finish();
  assert.equal(spans.at(-1), '100/100 call "f" 10–40 (open)');
});

Deno.test("timeline: nothing at all has no end", () => {
  const { t, spans, add } = timeline();
  add("a").close();
  t.finish();
  assert.deepEqual([spans, t.start, t.end], [[], Infinity, -Infinity]);
});

Deno.test("timeline: facts reach who asked; lost events, skipped hits and notes are marks", () => {
  const facts: string[] = [];
  const { t, spans, add, fact } = timeline({ onFact: ({ fact }, at) => void facts.push(`${fact} at ${at}`) });
  const host = t.add(hostSchema);
  const a = add("a");
  a.write(lines("1 +2 0", "10 +10 1/1 7", "@n: 1", "2 +50 0"));
  fact(host, 59, { fact: "lost", stream: "a", count: 4 });
  fact(host, 60, { fact: "skipped", stream: "a", count: 3 });
  fact(host, 61, { fact: "skipped", stream: "a", count: 0 });
  fact(host, 62, { fact: "skipped", stream: "gone", count: 0 });
  fact(host, 63, { fact: "note", text: "something to know" });
  a.close();
  host.close();
  assert.deepEqual(facts, ["lost at 59", "skipped at 60", "skipped at 61", "skipped at 62", "note at 63"]);
  assert.deepEqual(spans.slice(-3), [
    "mark lost 59 a: a: bpftrace's buffer was full (4)",
    "mark lost 60 a: a: hits skipped by the kernel (3)",
    "mark note 63 host: something to know",
  ]);
  assert.equal(t.tallies.get("host")!.received, 0, "llmprof counts what others emit");
});

Deno.test("timeline: llmprof's own stream that ends long before the others is told to be cut", () => {
  const { t, spans, add } = timeline();
  const host = t.add(hostSchema);
  const a = add("a");
  host.write(lines("(9, +1000000000)"));
  a.write(lines("1 +2 0", "2 +4000000000 0"));
  a.close();
  host.close();
  t.finish();
  assert.equal(
    spans.at(-1),
    "mark note 1000000000 host: host: cut off 1.000 s after counting began: what llmprof did and lost after that is missing",
  );
});

Deno.test("timeline: skipped hits count as emitted and as lost", () => {
  const { t, add, fact } = timeline();
  const host = t.add(hostSchema);
  const a = add("a");
  a.write(lines("1 +2 0", "10 +10 1/1 7", "@n: 1", "2 +50 0"));
  fact(host, 60, { fact: "skipped", stream: "a", count: 3 });
  a.close();
  host.close();
  assert.deepEqual(countsOf(t.tallies.values()), { emitted: 4, received: 1, lost: 3, undecodable: 0 });
});

Deno.test("timeline: events that were not kept while llmprof waited are not lost, whatever the kernel counts afterwards", () => {
  const { t, spans, add, fact } = timeline();
  const host = t.add(hostSchema);
  const a = add("a");
  fact(host, 5, { fact: "discarded", stream: "a", count: 100 });
  host.write(lines("(9, +6)"));
  a.write(lines("1 +2 0", "10 +10 1/1 7", "@n: 101", "(9, +20)", "10 +30 1/1 8", "@n: 102", "2 +50 0"));
  a.close();
  host.close();
  assert.deepEqual(countsOf(t.tallies.values()), { emitted: 2, received: 2, lost: 0, undecodable: 0 });
  assert.deepEqual(spans.filter((s) => s.startsWith("mark lost")), []);
});

Deno.test("timeline: a fact that cannot be read is a mark, not an error", () => {
  const { t, spans } = timeline();
  const host = t.add(hostSchema);
  host.write(lines("10 +5 0 7b 22"));
  host.close();
  assert.match(spans[0]!, /^mark undecodable 5 host: /);
});

Deno.test("timeline: with a root, only what it and its children do", () => {
  const { spans, add } = timeline({ tree: [100] });
  const a = add("a");
  a.write(lines("10 +1 200/200 1", "10 +2 100/100 2", "13 +3 100/100 200 0", "10 +4 200/200 3"));
  a.close();
  assert.deepEqual(spans, ['100/100 hit "2" 2', '200/200 hit "3" 4']);
});

Deno.test("timeline: with a root, rows of maps that are of other processes are left out, and not those of several", () => {
  const maps = { sum: { key: ["pid"], unit: "bytes" } };
  const { spans, add } = timeline({ tree: [100], find: (name) => name === testProbe.name ? { ...testProbe, maps } : undefined });
  const a = add("a");
  a.write(lines("13 +1 100/100 300 0", "(9, +5)", "@sum[100]: 1", "@sum[200]: 5", "@sum[300]: 2", "@sum[0]: 3"));
  a.close();
  assert.deepEqual(spans, ["1 <sum> = 1 at 5", "1 <sum> = 2 at 5", "1 <sum> = 3 at 5"]);
});

Deno.test("timeline: who has to act sees events before they are merged", () => {
  const seen: string[] = [];
  const { t, add } = timeline();
  add("b");
  const a = t.add(testSchema("a"), 0, {
    event: (event) => void seen.push(`event ${event.at}`),
    beat: (at) => void seen.push(`beat ${at}`),
    window: (at, open) => void seen.push(`window ${at} ${open}`),
  });
  a.write(lines("1 +2 0", "10 +10 1/1 7", "(9, +20)"));
  assert.deepEqual(seen, ["window 2 true", "event 10", "beat 20"]);
  assert.equal(t.slowest(), "b");
});

Deno.test("timeline: an event later than its stream promised is kept, and told of", () => {
  const { spans, add } = timeline();
  const a = add("a");
  a.write(lines("(9, +20)", "10 +10 1/1 7", "(9, +30)"));
  a.close();
  assert.deepEqual(spans, ['1/1 hit "7" 10', "mark note 30 a: a: 1 events came too late for their place in the order of time"]);
});

Deno.test("timeline: a stream that was cut off behind its last count has not lost what it brought", () => {
  const { t, add } = timeline();
  const a = add("a");
  a.write(lines("1 +2 0", "10 +10 1/1 7", "@n: 1", "(9, +20)", "10 +30 1/1 8"));
  a.close();
  t.finish();
  assert.deepEqual(countsOf(t.tallies.values()), { emitted: 2, received: 2, lost: 0, undecodable: 0 });
});
