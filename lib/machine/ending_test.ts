import assert from "node:assert/strict";
import { pending } from "../../tests/harness/pending.ts";
import { Ending } from "./ending.ts";

Deno.test("ending: a wait is over when what is waited for comes, or at the end, and then at once", async () => {
  const end = Promise.withResolvers<void>();
  const ending = new Ending(end.promise);
  await ending.or(Promise.resolve());
  assert.equal(ending.isHere, false);
  const waiting = ending.or(new Promise(() => {}));
  end.resolve();
  await waiting;
  assert.equal(ending.isHere, true);
  await ending.or(new Promise(() => {}));
});

Deno.test("ending: of waits that are over nothing is kept with what ends them", async () => {
  const end = pending();
  const ending = new Ending(end.promise);
  for (let i = 0; i < 3; i++) await ending.or(Promise.resolve());
  assert.equal(end.waits, 1);
});
