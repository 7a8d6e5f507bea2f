import assert from "node:assert/strict";
import { OneRead } from "./one_read.ts";

const list = () => Promise.resolve([]);

Deno.test("one read: what is asked for at one moment, each with its own answer", async () => {
  const reads: (readonly string[])[] = [];
  const texts = (paths: readonly string[]) => Promise.resolve((reads.push(paths), paths.map((path) => path === "/gone" ? null : `of ${path}`)));
  const files = new OneRead({ texts, list });
  const both = await Promise.all([files.texts(["/a", "/gone"]), files.texts([]), files.texts(["/b"])]);
  assert.deepEqual(both, [["of /a", null], [], ["of /b"]]);
  assert.deepEqual(await files.texts(["/c"]), ["of /c"]);
  assert.deepEqual(reads, [["/a", "/gone", "/b"], ["/c"]]);
});

Deno.test("one read: who asked hears that it failed", async () => {
  const files = new OneRead({ texts: () => Promise.reject(new Error("no")), list });
  const answers = await Promise.allSettled([files.texts(["/a"]), files.texts(["/b"])]);
  assert.deepEqual(answers.map(({ status }) => status), ["rejected", "rejected"]);
});
