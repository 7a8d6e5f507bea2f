import assert from "node:assert/strict";
import type { FileIdentity, KernelFiles } from "../machine/files.ts";
import { filesBelow } from "./file_below.ts";
import { fileKey, parseMaps } from "./maps.ts";

const path = "/opt/lib.so";

/** What tells a file of that process from others. */
async function below(pid: number, mounts: string, identity: FileIdentity): Promise<string | undefined> {
  const file = `/proc/${pid}/map_files/1-2`;
  const text = (path: string) => Promise.resolve(path === `/proc/${pid}/mounts` ? mounts : null);
  const files = { text, identities: () => Promise.resolve(new Map([[file, identity]])) } as Partial<KernelFiles> as KernelFiles;
  return (await filesBelow(files, pid, [{ path, file }])).get(file);
}

const overlay = "overlay / overlay rw,lowerdir=/l,upperdir=/u,workdir=/w 0 0\nproc /proc proc rw 0 0\n";

Deno.test("file below: two overlays over one file show one file, until a container has changed its own", async () => {
  const one = await below(100, overlay, { device: "40", inode: "7", changed: "1700000000.5" });
  assert.equal(await below(200, overlay, { device: "42", inode: "7", changed: "1700000000.5" }), one);
  assert.notEqual(await below(200, overlay, { device: "42", inode: "7", changed: "1700000000.6" }), one);
  assert.notEqual(await below(200, overlay, { device: "42", inode: "8", changed: "1700000000.5" }), one);
});

Deno.test("file below: elsewhere a device has files of its own, also where one is a picture of another", async () => {
  const snapshot = "/dev/sda / btrfs rw 0 0\n";
  const one = await below(100, snapshot, { device: "40", inode: "7", changed: "1700000000.5" });
  assert.notEqual(await below(200, snapshot, { device: "42", inode: "7", changed: "1700000000.5" }), one);
  assert.notEqual(await below(200, `${overlay}tmpfs /opt tmpfs rw 0 0\n`, { device: "42", inode: "7", changed: "1700000000.5" }), one);
});

Deno.test("file below: a file that is mapped has one name, by which its mapping is known and by which it is looked up", async () => {
  for (const [told, dev] of [["65024", "fe:00"], ["2050", "08:02"], ["317785087", "103:12fff"]]) {
    const [mapping] = parseMaps(`7f0000000000-7f0000001000 r-xp 00000000 ${dev} 7 ${path}\n`);
    assert.equal(await below(100, "/dev/sda / ext4 rw 0 0\n", { device: told!, inode: "7", changed: "1700000000.5" }), fileKey(mapping!));
  }
});
