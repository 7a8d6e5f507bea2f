import assert from "node:assert/strict";
import { noRoom } from "../../tests/harness/fake_child.ts";
import { sideLook } from "./side_look.ts";

Deno.test("side look: it is left out where no process can be started for it, and what else fails is a failure", async () => {
  assert.equal(await sideLook(Promise.resolve(1), 2), 1);
  assert.equal(await sideLook(noRoom(), 2), 2);
  await assert.rejects(sideLook(Promise.reject(new TypeError("a fault")), 2), TypeError);
});
