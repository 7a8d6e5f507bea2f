/** `report` reads what `--snapshots` writes: as a terminal, as JSON, and as pictures. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { reportSummarySchema } from "../../lib/commands/report_schema.ts";
import { temporary } from "../harness/temporary.ts";
import { runLlmprof } from "./llmprof.ts";

const START = 1_700_000_000;

function ioLine(i: number): string {
  const latency_histogram = [{ device_name: "vda", total: 13, buckets: [{ slot: 6, count: 13, bucket_low: 64, bucket_high: 127 }] }];
  const inflight = [{ device_name: "vda", count: i }];
  return JSON.stringify({ timestamp: START + 5 * i, iso_timestamp: "2023-11-14T22:13:20.000+00:00", interval_s: 5, latency_histogram, inflight });
}

Deno.test("report: figures and their course, what is no interval as a warning, and pictures where they are wanted", async () => {
  using folder = temporary();
  const file = folder.file("io.jsonl"), pictures = folder.file("of/both");
  Deno.writeTextFileSync(file, [1, 2, 3].map((i) => `${ioLine(i)}\n`).join("") + ioLine(4).slice(0, 50));
  const text = await runLlmprof(["report", file, "--png", pictures, "--svg", pictures]);
  assert.deepEqual([text.code, text.stderr.match(/^Wrote \S+\.(?:png|svg): open it with a browser$/gm)?.length], [0, 8], text.stderr);
  assert.match(text.stdout, /vda +39 +128 µs +128 µs +3\n/);
  assert.match(text.stdout, /vda +▃▆█ +at most 3\n/);
  assert.match(text.stdout, /1 line is no interval/);
  const names = [...Deno.readDirSync(pictures)].map(({ name }) => name).toSorted();
  const each = ["all", "latency-of-requests", "requests-in-flight", "requests"];
  assert.deepEqual(names, each.flatMap((name) => [`${name}.png`, `${name}.svg`]));
  assert.match(Deno.readTextFileSync(`${pictures}/all.svg`), /^<svg [^]*Requests in flight[^]*<\/svg>\s*$/);

  const json = await runLlmprof(["report", file, "--summary", "json"]);
  const { result } = reportSummarySchema.parse(JSON.parse(json.stdout));
  assert.deepEqual([result.from, result.to, result.lines], [START, START + 15, { io: 3, sched: 0, unread: 1 }]);
  assert.deepEqual([json.code, json.stderr], [0, ""]);
  Deno.writeFileSync(`${file}.gz`, gzipSync(Deno.readFileSync(file)));
  assert.equal((await runLlmprof(["report", `${file}.gz`, "--summary", "json"])).stdout, json.stdout);
});

Deno.test("report: compressed files that were put behind each other, and one that is cut, as far as it can be read", async () => {
  using folder = temporary();
  const week = folder.file("week.jsonl.gz"), cut = folder.file("cut.jsonl.gz");
  const days = [[1, 2], [3], [4, 5, 6]].map((day) => gzipSync(day.map((i) => `${ioLine(i)}\n`).join("")));
  const read = async (path: string) => {
    const { code, stdout, stderr } = await runLlmprof(["report", path, "--summary", "json"]);
    assert.equal(code, 0, stderr);
    const { lines, devices: [vda] } = reportSummarySchema.parse(JSON.parse(stdout)).result;
    return { io: lines.io, requests: vda!.requests, stderr };
  };
  Deno.writeFileSync(week, Buffer.concat(days));
  assert.deepEqual(await read(week), { io: 6, requests: 6 * 13, stderr: "" });
  Deno.writeFileSync(cut, Buffer.concat([...days.slice(0, 2), days[2]!.subarray(0, 20)]));
  assert.deepEqual(await read(cut), { io: 3, requests: 3 * 13, stderr: `${cut} is cut: what was behind its last whole line is in no figure.\n` });
  const broken = Buffer.from(days[2]!);
  broken[broken.length - 8]! ^= 1;
  Deno.writeFileSync(cut, Buffer.concat([...days.slice(0, 2), broken]));
  assert.match((await runLlmprof(["report", cut])).stderr, /Cannot read .*cut\.jsonl\.gz\./);
});

Deno.test("report: a line whose time is not in seconds is no interval; any other is drawn", async () => {
  using folder = temporary();
  const file = folder.file("io.jsonl"), line = JSON.parse(ioLine(1)), last = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
  const none = [{ timestamp: START * 1e3 }, { timestamp: START * 1e9 }, { timestamp: -1 }, { interval_s: 1e300 }];
  const lines = [line, ...none, { timestamp: last, interval_s: last }].map((fields) => JSON.stringify({ ...line, ...fields }));
  Deno.writeTextFileSync(file, lines.join("\n"));
  const { code, stdout, stderr } = await runLlmprof(["report", file, "--svg", folder.file("svg")]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /4 lines are no interval/);
  assert.match(stdout, /intervals of io +2\n/);
  assert.match(stdout, /to +9999-12-31 23:59:59 UTC\n/);
});

Deno.test("report: what cannot be reported says so, and what to type", async () => {
  using folder = temporary();
  const recording = folder.file("a run.llmprof"), empty = folder.file("empty");
  const file = folder.file("io.jsonl"), link = folder.file("link.jsonl"), cut = folder.file("cut.gz");
  Deno.mkdirSync(recording);
  Deno.writeTextFileSync(empty, "");
  Deno.writeTextFileSync(file, `${ioLine(1)}\n`);
  Deno.symlinkSync(file, link);
  Deno.writeFileSync(cut, gzipSync(ioLine(1)).subarray(0, 100));
  const tried: readonly (readonly [args: readonly string[], code: number, said: RegExp])[] = [
    [[folder.file("none")], 1, /There is no such file\.\n/],
    [[empty], 1, /No line of it is an interval .*\nSuch files come from: llmprof io --all --interval 5 --snapshots io\.jsonl\n/],
    [[recording], 2, /It is a folder.*\nFor a recording: llmprof export '.*a run\.llmprof' --no-output --summary text\n/],
    [[cut], 1, /Cannot read .*cut\.gz\..*\nName a file that --snapshots wrote\.\n/],
    [[file, file], 2, /is named twice/],
    [[file, `${folder.path}/./io.jsonl`], 2, /\/\.\/io\.jsonl is named twice/],
    [[file, link], 2, /link\.jsonl is named twice/],
    [[file, "--png", `${file}/below`], 2, /Cannot write into .*\nName a folder: --png DIR\n/],
    [[], 2, /llmprof report --help/],
  ];
  for (const [args, code, said] of tried) {
    const { code: found, stderr } = await runLlmprof(["report", ...args]);
    assert.equal(found, code, stderr);
    assert.match(stderr, said);
  }
});
