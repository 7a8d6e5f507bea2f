import assert from "node:assert/strict";
import { NAME_BYTES, TEXT_BYTES } from "../../lib/programs/schema.ts";
import { isCut, joined, tellMore } from "./long_name.ts";

Deno.test("long name: what is behind the first piece is told in others, up to the most that is told of a name", () => {
  const pieces = [...tellMore("$name", (piece) => `EMIT(more, ${piece});`).matchAll(/buf\(\$name \+ (\d+), (\d+)\)/g)].map(([, from]) =>
    Number(from)
  );
  assert.deepEqual(pieces, Array.from({ length: NAME_BYTES / TEXT_BYTES - 1 }, (_, i) => TEXT_BYTES * (i + 1)));
});

Deno.test("long name: pieces are joined without what says that more may come, also where nothing does", () => {
  assert.deepEqual(["abc…", "abc", ""].map(isCut), [true, false, false]);
  assert.deepEqual([joined("abc…", "def…"), joined("abc…", "d"), joined("abc…", "")], ["abcdef…", "abcd", "abc"]);
});
