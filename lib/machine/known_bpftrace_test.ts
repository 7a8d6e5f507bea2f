import assert from "node:assert/strict";
import { temporary } from "../../tests/harness/temporary.ts";
import type { Answer, Bpftrace } from "./bpftrace.ts";
import { cacheKey } from "./cache.ts";
import { type Knowing, knownBpftrace } from "./known_bpftrace.ts";

const features = { symbols: true, patterns: false, offsets: true, ringbuf: true, uprobeMulti: false, perCpuLookup: false, traceableList: false };

/** A bpftrace of which each question gets another answer. */
function asked(isWhole = true) {
  let times = 0;
  return (path: string): Promise<Answer> =>
    Promise.resolve({ bpftrace: { path, version: [0, 17, ++times], text: `bpftrace v0.17.${times}`, features }, isWhole });
}

const mayTry = Promise.resolve(true);

Deno.test("known bpftrace: asked once for each file and boot; a refresh asks again and is remembered", async () => {
  using folder = temporary();
  const path = folder.file("bpftrace");
  Deno.writeTextFileSync(path, "one");
  const probe = asked();
  const know = async ({ boot = "a", remember = "use" as Knowing["remember"] } = {}) => {
    const place = { folder: folder.file("cache"), uid: Deno.uid()! };
    return (await knownBpftrace(path, { key: cacheKey(path, boot)!, remember, mayTry, place }, probe))?.version[2];
  };
  assert.equal(await know(), 1);
  assert.equal(await know(), 1);
  assert.equal(await know({ boot: "b" }), 2);
  assert.equal(await know({ remember: "refresh" }), 3);
  assert.equal(await know(), 3);
  Deno.writeTextFileSync(path, "another");
  assert.equal(await know(), 4, "another file at the same path");
});

Deno.test("known bpftrace: what was kept and has not every field is asked for anew", async () => {
  using folder = temporary();
  const path = folder.file("bpftrace");
  Deno.writeTextFileSync(path, "one");
  const place = { folder: folder.file("cache"), uid: Deno.uid()! };
  const knowing: Knowing = { key: cacheKey(path, "a")!, remember: "use", mayTry, place };
  const half = { path, version: [0, 17, 9], text: "bpftrace v0.17.9", features: { offsets: true } } as unknown as Bpftrace;
  assert.equal((await knownBpftrace(path, knowing, () => Promise.resolve({ bpftrace: half, isWhole: true })))!.version[2], 9);
  assert.equal((await knownBpftrace(path, knowing, asked()))!.version[2], 1);
});

Deno.test("known bpftrace: what it could not tell to the end is not kept", async () => {
  using folder = temporary();
  const path = folder.file("bpftrace");
  Deno.writeTextFileSync(path, "one");
  const knowing: Knowing = { key: cacheKey(path, "a")!, remember: "use", mayTry, place: { folder: folder.file("cache"), uid: Deno.uid()! } };
  const probe = asked(false);
  for (const times of [1, 2]) assert.equal((await knownBpftrace(path, knowing, probe))!.version[2], times);
});
