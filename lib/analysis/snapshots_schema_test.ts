import assert from "node:assert/strict";
import { join } from "node:path";
import * as z from "zod";
import { top } from "../../tests/harness/places.ts";
import { snapshotLines } from "../../tests/harness/snapshot_lines.ts";
import { ioSnapshotSchema, snapshotSchema } from "./snapshots_schema.ts";

// It is made by JSON.stringify(z.toJSONSchema(snapshotSchema), null, 2).
Deno.test("snapshots: the schema that other tools can use is llmprof's own", () => {
  const published = JSON.parse(Deno.readTextFileSync(join(top, "snapshots.schema.json")));
  assert.deepEqual(published, JSON.parse(JSON.stringify(z.toJSONSchema(snapshotSchema))));
});

Deno.test("snapshots: by that schema no field is missing, nor unknown", () => {
  const line = { timestamp: 1.5, iso_timestamp: "1970-01-01T00:00:01.500000+00:00", interval_s: 1, latency_histogram: [], inflight: [] };
  const read = (line: object) => snapshotLines(JSON.stringify(line), ioSnapshotSchema);
  assert.deepEqual(read(line), [line]);
  assert.throws(() => read({ ...line, other: 1 }));
  assert.throws(() => read({ ...line, inflight: undefined }));
});
