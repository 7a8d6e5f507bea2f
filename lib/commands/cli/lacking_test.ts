import assert from "node:assert/strict";
import { refuseOfShapes } from "./lacking.ts";

Deno.test("lacking: shapes are read where a caller puts what they are looked for, and refused elsewhere", () => {
  refuseOfShapes({ shapes: true }, "x86_64");
  refuseOfShapes({}, "aarch64");
  assert.throws(() => refuseOfShapes({ shapes: true }, "aarch64"), { exitCode: 2, what: "--shapes is for x86_64." });
});
