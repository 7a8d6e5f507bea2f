import assert from "node:assert/strict";
import { makeElf } from "../../tests/harness/elf.ts";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { FilesOnce } from "../machine/files_once.ts";
import { findLibraries, type Unlooked } from "./found_libraries.ts";

Deno.test("libraries: one that may be linked into others is found in those of any name that are large enough, and in the program beside them", async () => {
  using root = temporary();
  Deno.mkdirSync(root.file("proc/100/map_files"), { recursive: true });
  Deno.symlinkSync("/opt/program", root.file("proc/100/exe"));
  const holds = { cudaMalloc: "55" }, [small, large] = [0x1000, 0x100000];
  const mapped = [
    ["/opt/program", makeElf(holds, false), large],
    ["/lib/libcudart.so.12", makeElf(holds), small],
    ["/lib/libengine.so", makeElf(holds, false), large],
    ["/lib/libother.so", makeElf({ otherMalloc: "55" }, false), large],
    ["/lib/libsmall.so", makeElf(holds, false), small],
  ] as const;
  const maps = mapped.map(([path, elf, bytes], i) => {
    const [from, to] = [0x7f0000000000 + i * 0x1000000, 0x7f0000000000 + i * 0x1000000 + bytes].map((at) => at.toString(16));
    Deno.writeFileSync(root.file(`proc/100/map_files/${from}-${to}`), elf);
    return `${from}-${to} r-xp 00000000 08:01 ${70 + i} ${path}\n`;
  });
  Deno.writeTextFileSync(root.file("proc/100/maps"), maps.join(""));
  const plain = new Set<string>();
  const need = { prefix: "libcudart", symbols: ["cudaMalloc"] };
  const find = async (more: { inside?: true }, without: Unlooked = { plain }) =>
    (await findLibraries(new FilesOnce(new FolderFiles(root.path)), 100, { ...need, ...more }, [], without)).map(({ name }) => name);
  assert.deepEqual(await find({}), ["libcudart.so.12"]);
  assert.deepEqual(await find({ inside: true }), ["libcudart.so.12", "program", "libengine.so"]);
  assert.deepEqual([...plain], [`${8 * 2 ** 20 + 1}:73`], "what has nothing of it is looked into once");
  assert.deepEqual(await find({ inside: true }, { named: true }), [], "only what is linked into the program is asked for");
});
