import assert from "node:assert/strict";
import { hiding, mountOf, parseMounts } from "./mounts.ts";

Deno.test("mounts: a path lies in the last mount at or above it, and in the root where there is no other, whenever that was mounted", () => {
  const mounts = parseMounts("tmpfs /run tmpfs rw 0 0\nsysfs /sys sysfs rw 0 0\n/dev/vda / ext4 ro 0 0\ntmpfs /sys/kernel tmpfs ro 0 0\n");
  const placeOf = (path: string) => mountOf(path, mounts)?.place;
  assert.deepEqual(["/run", "/run/user/0", "/runner", "/home"].map(placeOf), ["/run", "/run", "/", "/"]);
  assert.deepEqual([hiding("/sys/kernel/btf", mounts), hiding("/sys/fs", mounts), hiding("/proc/pressure", mounts)], ["/sys/kernel", null, null]);
  assert.equal(mountOf("/home", []), undefined);
});
