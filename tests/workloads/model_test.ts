import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { temporary } from "../harness/temporary.ts";
import { writeModel } from "./model.ts";
import { shapes } from "./shapes.ts";

const digest = (path: string): string => createHash("sha256").update(Deno.readFileSync(path)).digest("hex");

Deno.test("a shape gives the same bytes every time, another seed gives others", () => {
  using folder = temporary();
  const [first, second, other] = [folder.file("a"), folder.file("b"), folder.file("c")];
  writeModel(first, shapes.tiny);
  writeModel(second, shapes.tiny);
  writeModel(other, { ...shapes.tiny, seed: 2 });
  assert.equal(digest(first), digest(second));
  assert.notEqual(digest(first), digest(other));
});

Deno.test("a model that is there is kept, one of another shape is replaced", () => {
  using folder = temporary();
  const path = folder.file("model");
  writeModel(path, shapes.tiny);
  const written = Deno.statSync(path).ino;
  writeModel(path, shapes.tiny);
  assert.equal(Deno.statSync(path).ino, written);
  writeModel(path, shapes.moe);
  assert.notEqual(Deno.statSync(path).ino, written);
});
