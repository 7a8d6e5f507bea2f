import assert from "node:assert/strict";
import { origin } from "./means.ts";

Deno.test("means: the beginning of llmprof's own clock is told by the wall clock as it is set now", () => {
  const { Now } = Temporal, { instant } = Now, before = origin();
  assert.ok(Math.abs(before - performance.timeOrigin) < 1000, `${before}`);
  try {
    Object.assign(Now, { instant: () => instant().add({ hours: -2 }) });
    assert.ok(Math.abs(origin() - before + 7_200_000) < 1000);
  } finally {
    Object.assign(Now, { instant });
  }
});
