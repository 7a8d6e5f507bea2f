import assert from "node:assert/strict";
import process from "node:process";
import { temporary } from "../../tests/harness/temporary.ts";
import { Cache, cacheKey } from "./cache.ts";

const uid = process.getuid!();

/** A cache in a folder of its own, with the file that holds its entry. */
function cache(root: string) {
  const bpftrace = `${root}/bpftrace`;
  Deno.writeTextFileSync(bpftrace, "one");
  const folder = `${root}/cache`;
  const open = (boot = "b\n") => new Cache(cacheKey(bpftrace, boot)!, { folder, uid });
  const file = () => `${folder}/${[...Deno.readDirSync(folder)].map(({ name }) => name).join()}`;
  return { bpftrace, folder, open, file };
}

Deno.test("what was kept is found again, in a folder and a file that are closed to others", () => {
  using root = temporary();
  const { open, folder, file } = cache(root.path);
  assert.equal(open().read("features"), null);
  assert.equal(open().write("features", { offsets: true }), true);
  assert.deepEqual(open().read("features"), { offsets: true });
  assert.equal(open().read("calibration"), null);
  assert.equal(Deno.statSync(folder).mode! & 0o777, 0o700);
  assert.equal(Deno.statSync(file()).mode! & 0o777, 0o600);
  assert.equal(open().write("features", { offsets: false }), true);
  assert.deepEqual(open().read("features"), { offsets: false });
});

Deno.test("another boot and another file of bpftrace know nothing", () => {
  using root = temporary();
  const { open, bpftrace } = cache(root.path);
  open().write("features", 1);
  assert.equal(open("c\n").read("features"), null);
  assert.equal(open().read("features"), 1);
  Deno.writeTextFileSync(bpftrace, "another");
  assert.equal(open().read("features"), null);
  assert.equal(cacheKey(`${root.path}/none`, "b"), null);
});

Deno.test("a link is not followed: neither the folder's nor a file's", () => {
  using root = temporary();
  const { open, folder, file } = cache(root.path);
  open().write("features", 1);
  const entry = file();
  const victim = `${root.path}/victim`;
  Deno.renameSync(entry, victim);
  Deno.symlinkSync(victim, entry);
  assert.equal(open().read("features"), null);
  const before = Deno.readTextFileSync(victim);
  assert.equal(open().write("features", 2), true);
  assert.equal(Deno.readTextFileSync(victim), before);
  assert.equal(Deno.lstatSync(entry).isFile, true);
  assert.equal(open().read("features"), 2);
  Deno.renameSync(folder, `${root.path}/elsewhere`);
  Deno.symlinkSync(`${root.path}/elsewhere`, folder);
  assert.equal(open().read("features"), null);
  assert.equal(open().write("features", 3), false);
});

Deno.test("what others own, or may write or read, is as if it were not there", () => {
  using root = temporary();
  const { open, folder, file, bpftrace } = cache(root.path);
  open().write("features", 1);
  assert.equal(new Cache(cacheKey(bpftrace, "b")!, { folder, uid: uid + 1 }).read("features"), null);
  assert.equal(new Cache(cacheKey(bpftrace, "b")!, { folder, uid: uid + 1 }).write("features", 2), false);
  Deno.chmodSync(file(), 0o606);
  assert.equal(open().read("features"), null);
  Deno.chmodSync(file(), 0o600);
  assert.equal(open().read("features"), 1);
  Deno.chmodSync(folder, 0o770);
  assert.equal(open().read("features"), null);
  assert.equal(open().write("features", 2), false);
});

Deno.test("what cannot be understood is as if it were not there, and is replaced", () => {
  for (const text of ["", "{", "null", "[]", `{"format":1}`, `{"format":2,"key":{},"value":1}`, "x".repeat(2 << 20)]) {
    using root = temporary();
    const { open, file } = cache(root.path);
    open().write("features", 1);
    Deno.writeTextFileSync(file(), text);
    assert.equal(open().read("features"), null, text.slice(0, 40));
    open().write("features", 2);
    assert.equal(open().read("features"), 2);
  }
});

Deno.test("where no folder can be made, nothing is kept and nothing is thrown", () => {
  using root = temporary();
  const { bpftrace } = cache(root.path);
  const nowhere = new Cache(cacheKey(bpftrace, "b")!, { folder: `${root.path}/no/such`, uid });
  assert.equal(nowhere.write("features", 1), false);
  assert.equal(nowhere.read("features"), null);
});
