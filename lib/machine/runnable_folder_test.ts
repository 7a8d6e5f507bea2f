import assert from "node:assert/strict";
import { dirname } from "node:path";
import { temporary } from "../../tests/harness/temporary.ts";
import { type Guard, noGuard } from "./guard.ts";
import { parseMounts } from "./mounts.ts";
import { ReaderFiles } from "./reader_files.ts";
import { runnableFolder, startsPrograms } from "./runnable_folder.ts";

Deno.test("runnable folder: what is mounted nearest decides, and of two at one place the later", () => {
  const mounts = parseMounts(
    "/dev/sda / ext4 rw 0 0\ntmpfs /tmp tmpfs rw,nosuid,noexec 0 0\ntmpfs /tmp/mine tmpfs rw 0 0\ntmpfs /var tmpfs rw 0 0\ntmpfs /var tmpfs noexec 0 0\n",
  );
  const answers = ["/tmp/x", "/tmp/mine/x", "/tmp/mine", "/tmpfs", "/var/cache"].map((folder) => startsPrograms(folder, mounts));
  assert.deepEqual(answers, [false, true, true, true, false]);
  assert.ok(startsPrograms("/anywhere", []));
});

Deno.test("runnable folder: it goes with who made it", async () => {
  let path: string;
  {
    await using folder = await runnableFolder(new ReaderFiles(), "test");
    path = folder.path;
    Deno.writeTextFileSync(`${path}/program`, "");
  }
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
});

Deno.test("runnable folder: it goes where nothing can be started that would look after it, and that goes where the folder cannot", async () => {
  let path = "", closed = 0;
  const make = (guard: () => Promise<Guard>) =>
    runnableFolder(new ReaderFiles(), "test", undefined, (_, folder) => {
      path = folder!;
      return guard();
    });
  await assert.rejects(make(() => Promise.reject(new Error("os error 11"))), /os error 11/);
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  const folder = await make(() => Promise.resolve({ ...noGuard, close: () => Promise.resolve(void closed++) }));
  Deno.removeSync(folder.path);
  await assert.rejects(async () => await folder[Symbol.asyncDispose](), Deno.errors.NotFound);
  assert.equal(closed, 1);
});

const asRoot = { ignore: Deno.uid() !== 0 };
Deno.test("runnable folder: nobody else looks into it, and it is in none where another could put his own in its place", asRoot, async () => {
  using places = temporary();
  Deno.chmodSync(places.path, 0o755);
  const place = (path: string, mode: number) => {
    Deno.mkdirSync(places.file(path));
    Deno.chmodSync(places.file(path), mode);
    return places.file(path);
  };
  const own = place("own", 0o755), shared = place("shared", 0o1777), others = place("others", 0o755);
  const open = [place("world", 0o777), place("group", 0o775)];
  const inside = place("world/inside", 0o755);
  Deno.chownSync(others, 1, 1);
  for (const [first, taken] of [[shared, shared], ...[inside, ...open, others].map((folder) => [folder, own])] as [string, string][]) {
    await using folder = await runnableFolder(new ReaderFiles(), "test", [first, own]);
    assert.equal(dirname(folder.path), taken, first);
    assert.equal(Deno.statSync(folder.path).mode! & 0o7777, 0o700);
  }
  assert.deepEqual([...Deno.readDirSync(others), ...Deno.readDirSync(inside)], [], "nothing is left");
});
