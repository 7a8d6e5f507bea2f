import assert from "node:assert/strict";
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
