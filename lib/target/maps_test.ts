import assert from "node:assert/strict";
import { spawnChild } from "../machine/child.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { fileReader, readElf } from "./elf.ts";
import { mappedFile } from "./mapped_file.ts";
import { libraries, parseMaps } from "./maps.ts";

const text = `00400000-00452000 r-xp 00000000 08:02 173521                             /usr/bin/dbus daemon
7f1000000000-7f1000010000 r--p 00000000 fe:00 42                         /opt/lib/libllama.so.1
7f1000010000-7f1000080000 r-xp 00010000 fe:00 42                         /opt/lib/libllama.so.1
7f1000080000-7f1000090000 r-xp 00080000 fe:00 42                         /opt/lib/libllama.so.1
7f1000090000-7f10000a0000 r-xp 00000000 103:7ff 43                       /a\\012b/lib x.so (deleted)
7f10000a0000-7f10000b0000 rw-p 00000000 00:00 0                          [heap]
7f10000b0000-7f10000c0000 r-xp 00000000 00:00 0                          [vdso]
7f10000c0000-7f10000d0000 rwxp 00000000 00:00 0
cut sho`;

Deno.test("maps: ranges are written as map_files does, devices as the kernel counts them", () => {
  const mappings = parseMaps(text);
  assert.equal(mappings.length, 8);
  assert.deepEqual(mappings[0], {
    range: "400000-452000",
    start: 0x400000n,
    end: 0x452000n,
    executable: true,
    offset: 0,
    dev: 8 * 2 ** 20 + 2,
    inode: 173521,
    path: "/usr/bin/dbus daemon",
  });
  assert.equal(mappings[2]!.offset, 0x10000);
  assert.deepEqual([mappings[4]!.path, mappings[4]!.dev], ["/a\nb/lib x.so", 0x103 * 2 ** 20 + 0x7ff]);
  assert.equal(mappings[7]!.path, "");
});

Deno.test("maps: one library for each file with executable pages", () => {
  const found = libraries(parseMaps(text));
  assert.deepEqual(found.map(({ name, range }) => [name, range]), [
    ["dbus daemon", "400000-452000"],
    ["libllama.so.1", "7f1000010000-7f1000080000"],
    ["lib x.so", "7f1000090000-7f10000a0000"],
  ]);
  assert.equal(mappedFile(7, found[1]!), "/proc/7/map_files/7f1000010000-7f1000080000");
});

Deno.test("maps: neighbours whose inodes are above 2^53 are files of their own", () => {
  const row = (at: number, inode: string, path: string) => `${at}000-${at}fff r-xp 00000000 00:2a ${inode} ${path}\n`;
  const found = libraries(parseMaps(row(1, "144115205322833921", "/lustre/libc10.so") + row(2, "144115205322833922", "/lustre/libtorch_cpu.so")));
  assert.deepEqual(found.map(({ name }) => name), ["libc10.so", "libtorch_cpu.so"]);
});

Deno.test("maps: a real process maps its own program", async () => {
  const found = libraries(parseMaps((await new ReaderFiles().text("/proc/self/maps"))!));
  assert.ok(found.some(({ name, inode }) => /^(cat|coreutils|busybox)$/.test(name) && inode > 0));
});

const files = new ReaderFiles();
const root = /^Uid:\s*\d+\s+0\s/m.test(await files.text("/proc/self/status") ?? "");
Deno.test({
  name: `maps: the range leads to the mapped file itself${root ? "" : " (skipped: needs root)"}`,
  ignore: !root,
  fn: async () => {
    const child = spawnChild({ program: "sleep", args: ["60"] });
    for (let i = 0; i < 200 && await files.text(`/proc/${child.pid}/comm`) !== "sleep\n"; i++) await new Promise((resolve) => setTimeout(resolve, 5));
    const found = libraries(parseMaps((await files.text(`/proc/${child.pid}/maps`))!));
    const names = new Set(await files.list(`/proc/${child.pid}/map_files`));
    assert.ok(found.length >= 2);
    for (const library of found) {
      assert.ok(names.has(library.range), library.range);
      assert.equal((await readElf(fileReader(files, mappedFile(child.pid, library))))?.machine, Deno.build.arch);
    }
    child.kill("SIGKILL");
    await child.status;
  },
});
