import assert from "node:assert/strict";
import { parseMounts } from "./mounts.ts";
import { startsPrograms } from "./runnable_folder.ts";

Deno.test("runnable folder: what is mounted nearest decides, and of two at one place the later", () => {
  const mounts = parseMounts(
    "/dev/sda / ext4 rw 0 0\ntmpfs /tmp tmpfs rw,nosuid,noexec 0 0\ntmpfs /tmp/mine tmpfs rw 0 0\ntmpfs /var tmpfs rw 0 0\ntmpfs /var tmpfs noexec 0 0\n",
  );
  const answers = ["/tmp/x", "/tmp/mine/x", "/tmp/mine", "/tmpfs", "/var/cache"].map((folder) => startsPrograms(folder, mounts));
  assert.deepEqual(answers, [false, true, true, true, false]);
  assert.ok(startsPrograms("/anywhere", []));
});
