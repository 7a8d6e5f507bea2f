import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { takesMembers } from "./gzip_end.ts";

Deno.test("behind a compressed file that is cut, or has something else behind its end, nothing more could be read", async () => {
  const member = gzipSync('{"a":1}\n'), long = gzipSync(Uint8Array.from({ length: 1e6 }, (_, i) => i * i * 31 >> 3));
  for (const blocks of [[member], [member, long, member], [Uint8Array.from([...long, ...member])]]) assert.ok(await takesMembers(blocks));
  const cut = [4, 12, member.length - 3].map((length) => [member, member.subarray(0, length)]);
  for (const blocks of [...cut, [member, new Uint8Array(100)], [member, Uint8Array.of(7)], [member, member.subarray(0, 12), member]]) {
    assert.ok(!await takesMembers(blocks), String(blocks));
  }
});
