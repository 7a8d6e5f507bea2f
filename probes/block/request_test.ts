import assert from "node:assert/strict";
import { RAW_TRACEPOINTS } from "../../lib/machine/symbol_tables.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { render } from "../../lib/programs/render.ts";
import { findClose, parseTemplate } from "../../lib/programs/template.ts";
import { whoIs } from "../../lib/programs/who.ts";
import { Decoding } from "../../tests/harness/decoding.ts";
import { recentDialect } from "../../tests/harness/dialect.ts";
import { handed, request } from "./request.ts";
import { blockTotals } from "./totals.ts";

const thread = whoIs(100, 101), LOOP0 = 7 * 2 ** 20, NVME = 259 * 2 ** 20 + 3;
const [R, W, F] = [82, 87, 70];

Deno.test("request: from being handed to the device to its answer, on a row for each device, by who asked", () => {
  const d = new Decoding(request);
  d.event(50, "block/request.done", { thread, made: 10, issued: 20, dev: LOOP0, sector: 8, bytes: 4096, what: R });
  d.event(70, "block/request.done", { thread, made: 30, issued: 40, dev: LOOP0, sector: 16, bytes: 4096, what: W });
  d.event(75, "block/request.done", { thread, made: 60, issued: 61, dev: LOOP0, sector: 16, bytes: 4096, what: R });
  d.event(90, "block/request.done", { thread, made: 80, issued: 80, dev: NVME, sector: 0, what: F });
  assert.deepEqual(d.end(100), [
    '100 <disk 7:0> block.request "read" 20–50 device=7:0 bytes=4096 sector=8 queuedNs=10 thread=101',
    '100 <disk 7:0> block.request "write" 40–70 device=7:0 bytes=4096 sector=16 queuedNs=10 thread=101',
    '100 <disk 7:0> block.request "read" 61–75 device=7:0 bytes=4096 sector=16 queuedNs=1 thread=101 sequential=true',
    '100 <disk 259:3> block.request "flush" 80–90 device=259:3 bytes=0 sector=0 queuedNs=0 thread=101',
    "100 <requests at once: disk 7:0> = 0.0000074 at 0",
    "100 <requests at once: disk 7:0> = 0 at 10000000",
    "100 <requests at once: disk 259:3> = 0.000001 at 0",
    "100 <requests at once: disk 259:3> = 0 at 10000000",
  ]);
});

Deno.test("request: the list that is made for bpftrace has the raw tracepoints at which probes stand", () => {
  assert.deepEqual(Object.values(handed).flatMap((param) => param.type === "tracepoint" ? [param.raw] : []), RAW_TRACEPOINTS);
});

/** The blocks of a program, by the tracepoint at which they stand. */
function blocksOf(probe: Probe, rawTracepoints: boolean): ReadonlyMap<string, string> {
  const plan = { stream: "disks", probes: [probe], filter: { type: "tree", pids: [42] }, window: "signalled" } as const;
  const { text } = render(plan, { ...recentDialect, rawTracepoints }, () => []);
  return new Map(parseTemplate(text).map(({ attach, body }) => [attach[0]!.replace(/^(rawtracepoint|tracepoint:block):/, ""), body]));
}

/** What is deleted of the requests that a device has, in the order of a text. */
function forgotten(text: string): string[] {
  return [...text.matchAll(/delete\((@issued\w*\[.*?\])\);/g)].map(([, row]) => row!);
}

const inEach = (key: string) => [0, 1, 2].map((map) => `@issued_${map}[${key}]`);

Deno.test("request: a flush is handed over at 0, where it was asked for, wherever the kernel says that it has no place", () => {
  for (const probe of [request, blockTotals(1000)]) {
    for (const [raw, sector] of [[true, "(uint64)((struct request *)arg0)->__sector"], [false, "(uint64)args->sector"]] as const) {
      const issue = blocksOf(probe, raw).get("block_rq_issue")!;
      assert.ok(issue.includes(`$sector = ((${sector} + 1 == 0 ? (uint64)0 : ${sector}));`), `${probe.name}: ${issue}`);
      assert.ok(issue.includes("@made[$disk, $sector]"));
    }
  }
});

Deno.test("request: one that was taken back, and then ended or was merged before it was handed over again, is told, and nobody's next is taken for it", () => {
  for (const raw of [true, false]) {
    const blocks = blocksOf(request, raw);
    const within = (at: string, condition: string) => {
      const body = blocks.get(at)!, start = body.indexOf(`if (${condition}) {`);
      assert.ok(start >= 0, `${at}: ${body}`);
      const open = body.indexOf("{", start);
      return body.slice(open, findClose(body, open));
    };
    // 0: nobody knows it; 1: it was taken back.
    const ended = within("block_rq_complete", "$issued.0 > 0");
    assert.match(ended, /\$since = \$issued\.0;\s+if \(\$since == 1\) \{ \$since = nsecs; \}[^]*\$issued\.2, \$since, /);
    const gone = ended.slice(ended.indexOf("$since, "));
    assert.deepEqual(forgotten(gone), raw ? ["@issued[$request]"] : inEach("$request"));
    const merged = /if \(\$issued\.0 == 1\) \{([^}]*)\}/.exec(within("block_rq_merge", "$made.0 > 0 || $issued.0 == 1"))![1]!;
    assert.deepEqual(forgotten(merged), raw ? ["@issued[$request]"] : inEach("$request"));
  }
});

Deno.test("request: one of which a part was answered, or nothing yet, is kept until the rest is, by where that begins", () => {
  for (const raw of [true, false]) {
    const [part, rest, left] = raw
      ? ["(uint64)(arg2 & 4294967295) / 512", "$request", "(uint64)((struct request *)arg0)->__data_len / 512"]
      : ["(uint64)args->nr_sector", "$request + $part", "(uint64)4294967295"];
    const kept = [
      [
        request,
        `$answered + $part < $bytes / 512 && $part < (${left}) && ($error == 0 || $error == 1000)`,
        "$issued.0, $issued.1 + ($part << 32), $issued.2, $issued.3, $issued.4",
      ],
      [blockTotals(1000), `$part < $issued.1 >> 32 && $part < (${left})`, "$issued.0, $issued.1 - ($part << 32)"],
    ] as const;
    for (const [probe, condition, value] of kept) {
      const body = blocksOf(probe, raw).get("block_rq_complete")!.replace(/\s+/g, " ");
      assert.ok(body.includes(`$part = (${part});`), body);
      const start = body.indexOf(` if (${condition}) {`), open = body.indexOf("{", start);
      const then = body.slice(open, findClose(body, open));
      assert.ok(start >= 0 && /^\} else /.test(body.slice(open + then.length)), body);
      assert.deepEqual(forgotten(then), raw ? ["@issued[$request]"] : [...inEach("$request"), ...inEach(`(${rest})`)]);
      assert.ok(then.includes(raw ? `@issued[(${rest})] = (${value});` : `$handed = (${value});`), then);
    }
  }
});

Deno.test("request: by its place on the disk it is in one of three maps, the next of which takes over when that is full, and what finds no room is lost", () => {
  for (const probe of [request, blockTotals(1000)]) {
    const [issue, raw] = [false, true].map((isRaw) => blocksOf(probe, isRaw).get("block_rq_issue")!) as [string, string];
    assert.doesNotMatch(raw, /@issued_|clear\(|@n = count/);
    assert.doesNotMatch(issue, /@issued\[/);
    const put = issue.indexOf("$handed = (nsecs, "), full = issue.indexOf("if ($issued.0 == 0) { if (@issuing == $turn", put);
    assert.ok(put > 0 && full > put, issue);
    // Of what had that place before nothing is left, whichever map it is in.
    assert.deepEqual(forgotten(issue.slice(0, put)).slice(-3), inEach("$request"));
    const into = (text: string) => [...text.matchAll(/@issued_(\d)\[\$request\] = \$handed;/g)].map(([, map]) => Number(map));
    assert.deepEqual(into(issue.slice(put, full)), [0, 1, 2]);
    const otherwise = issue.slice(full, findClose(issue, issue.indexOf("{", full)));
    assert.deepEqual([into(otherwise), otherwise.match(/clear\(@\w+\);/g)], [[0, 1, 2], [
      ...inEach("").map((_, map) => `clear(@issued_${(map + 2) % 3});`),
      "clear(@emptying);",
    ]]);
    assert.match(otherwise, /@emptying\[0\] = nsecs; @issuing = \(\$turn \+ 1\) % 3;[^]*if \(\$issued\.0 == 0\) \{ @n = count\(\); \}/);
  }
});

Deno.test("request: what somebody else asks for at a place ends what was known of it there, where the answer may have been skipped", () => {
  const others = { request: "if ($issued.0 > 1) {", totals: "if (@made[$disk, $sector] == 0) {" };
  for (const [probe, condition] of [[request, others.request], [blockTotals(1000), others.totals]] as const) {
    const issue = blocksOf(probe, false).get("block_rq_issue")!, start = issue.indexOf(condition);
    assert.ok(start >= 0, issue);
    const open = start + condition.length - 1;
    assert.deepEqual(forgotten(issue.slice(open, findClose(issue, open))), inEach("$request"));
    // What is put there afterwards is not that one.
    assert.ok(issue.lastIndexOf("$handed = ") > start, issue);
    assert.ok(!blocksOf(probe, true).get("block_rq_issue")!.includes(others.request));
  }
});

Deno.test("request: what was merged and split, by device and kind, of each program that counts", () => {
  const d = new Decoding(request);
  d.snapshot(10, "block/request.merged", [LOOP0, R], 5);
  d.snapshot(20, "block/request.merged", [LOOP0, R], 7);
  d.snapshot(20, "block/request.split", [LOOP0, 0], 3);
  d.snapshot(20, "block/request.split", [NVME, W], 2);
  d.stream = "another turn";
  d.snapshot(40, "block/request.merged", [LOOP0, R], 1);
  assert.deepEqual(d.end(100), [
    '0 <llmprof> block.pieces "read" 100 device=7:0 merged=7 split=0 what=read',
    '0 <llmprof> block.pieces "read" 100 device=7:0 merged=0 split=3 what=read',
    '0 <llmprof> block.pieces "write" 100 device=259:3 merged=0 split=2 what=write',
    '0 <llmprof> block.pieces "read" 100 device=7:0 merged=1 split=0 what=read',
  ]);
});

Deno.test("request: what its disk had not answered when the window was shut is open until then, where its own address tells it", () => {
  const d = new Decoding(request);
  d.event(50, "block/request.still", { thread, made: 10, issued: 20, dev: LOOP0, sector: 8, bytes: 4096, what: 1 });
  const told = d.ending(60).flatMap((span) => span.type === "slice" ? [[span.name, span.start, span.end, span.open, span.block?.queuedNs]] : []);
  assert.deepEqual(told, [["write", 20, 50, true, 10]]);
  const shutting = (raw: boolean) => {
    const plan = { stream: "disks", probes: [request], filter: { type: "tree", pids: [42] }, window: "signalled" } as const;
    return /^tracepoint:syscalls:sys_enter_kill .*$/m.exec(render(plan, { ...recentDialect, rawTracepoints: raw }, () => []).text)![0];
  };
  assert.deepEqual([true, false].map((raw) => shutting(raw).includes("for ($each : @issued)")), [true, false]);
});

Deno.test("request: errors, and what a raw tracepoint calls them", () => {
  const d = new Decoding(request);
  d.event(50, "block/request.done", { thread, made: 10, issued: 20, dev: LOOP0, what: R, error: -5 });
  d.event(60, "block/request.done", { thread, made: 10, issued: 20, dev: LOOP0, what: 0, error: 1010 });
  d.event(70, "block/request.done", { thread, made: 10, issued: 20, dev: LOOP0, what: 1, error: 1003 });
  d.event(80, "block/request.done", { thread, made: 10, issued: 20, dev: LOOP0, what: 3, error: 1000 });
  d.event(90, "block/request.requeued", { thread, dev: LOOP0, sector: 8 });
  const told = d.end(100).filter((line) => line.includes(" block.")).map((line) => line.replace(/device=.*?( errno|$)/, "$1"));
  assert.deepEqual(told, [
    '100 <disk 7:0> block.request "read" 20–50  errno=5',
    '100 <disk 7:0> block.request "read" 20–60  errno=5',
    '100 <disk 7:0> block.request "write" 20–70  errno=28',
    '100 <disk 7:0> block.request "discard" 20–80 ',
    '100/101 block.requeue "requeued" 90 ',
  ]);
});
