import assert from "node:assert/strict";
import { temporary } from "../harness/temporary.ts";
import { errors, judged, query } from "../judge/trace_processor.ts";
import { demoFolder } from "./demo_recording.ts";
import { runLlmprof } from "./llmprof.ts";

/** Nanoseconds of 104 days, past which a number is not exact any more; and no round ones. */
const later = 2n ** 53n + 1_234_567_891n;

/** The demo's recording, as a machine would have made it that was up for so much longer. */
async function shiftedDemo(parent: string): Promise<string> {
  let base = 0n;
  const folder = await demoFolder(parent, (text) => {
    const header = JSON.parse(text);
    base = BigInt(header.clock.base);
    header.clock.base = String(base + later);
    header.clock.realtimeOffset = String(BigInt(header.clock.realtimeOffset) - later);
    return JSON.stringify(header);
  });
  for (const { name } of Deno.readDirSync(folder)) {
    if (!name.endsWith(".lines")) continue;
    const path = `${folder}/${name}`;
    // Every number within an hour of the run is a time: addresses and inodes are elsewhere.
    const shift = (digits: string) => {
      const away = BigInt(digits) - base;
      return away > -3_600_000_000_000n && away < 3_600_000_000_000n ? String(BigInt(digits) + later) : digits;
    };
    const [schema, ...lines] = Deno.readTextFileSync(path).split("\n");
    Deno.writeTextFileSync(path, [schema, ...lines.map((line) => line.replace(/\b\d{11,}\b/g, shift))].join("\n"));
  }
  return folder;
}

async function exported(folder: string, recording: string): Promise<Record<"pftrace" | "json" | "jsonl", string>> {
  const paths = { pftrace: `${folder}/t.pftrace`, json: `${folder}/t.json`, jsonl: `${folder}/t.jsonl` };
  const { code, stderr } = await runLlmprof(["export", recording, ...Object.values(paths).flatMap((path) => ["-o", path])]);
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, /Warning/);
  return paths;
}

/** Slices with their times, as trace_processor reads them. */
async function slices(path: string, origin = 0n): Promise<string[]> {
  assert.deepEqual(await errors(path), []);
  const rows = await query(path, "select ts, dur, name, category from slice where category != 'llmprof.run' order by ts, dur desc, name");
  return rows.map(({ ts, dur, name, category }) => `${(ts as bigint) + origin} ${dur} ${category} ${name}`);
}

function plus(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^\d+/, (digits) => String(BigInt(digits) + later)));
}

function originOf(path: string): bigint {
  return BigInt(JSON.parse(Deno.readTextFileSync(path)).otherData.clockBase);
}

function times(path: string): string[] {
  const lines = Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => JSON.parse(line)).filter(({ type }) =>
    type !== "head" && type !== "view"
  );
  return lines.map(({ start, end, at, duration, name, text }) =>
    `${start ?? at} ${end ? BigInt(end) - BigInt(start) : ""} ${duration ?? ""} ${name ?? text}`
  );
}

await judged("a machine that is up for 105 days: every time in every format is exact", async () => {
  using young = temporary();
  using old = temporary();
  const before = await exported(young.path, await demoFolder(young.path));
  const after = await exported(old.path, await shiftedDemo(old.path));
  const expected = await slices(before.pftrace);
  assert.ok(expected.length > 1000);
  assert.deepEqual(await slices(after.pftrace), plus(expected));
  assert.deepEqual(await slices(after.json, originOf(after.json)), plus(await slices(before.json, originOf(before.json))));
  assert.deepEqual(times(after.jsonl), plus(times(before.jsonl)));
});
