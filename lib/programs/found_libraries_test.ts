import assert from "node:assert/strict";
import { makeElf } from "../../tests/harness/elf.ts";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { FilesOnce } from "../machine/files_once.ts";
import type { LibraryNeed } from "./probe.ts";
import { findLibraries, type Unlooked } from "./found_libraries.ts";

Deno.test("libraries: one that may be linked into others is found in those of any name that are large enough, and in the program beside them, or only where it is nowhere else", async () => {
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
  const find = async (more: Pick<LibraryNeed, "inside">, without: Unlooked = { plain }) =>
    (await findLibraries(new FilesOnce(new FolderFiles(root.path)), 100, { ...need, ...more }, [], without)).map(({ name }) => name);
  assert.deepEqual(await find({}), ["libcudart.so.12"]);
  assert.deepEqual(await find({ inside: "kept" }), ["libcudart.so.12", "program", "libengine.so"]);
  assert.deepEqual(await find({ inside: "alone" }), ["libcudart.so.12"]);
  assert.deepEqual([...plain], [`${8 * 2 ** 20 + 1}:73`], "what has nothing of it is looked into once");
  assert.deepEqual(await find({ inside: "kept" }, { named: true }), [], "only what is linked into the program is asked for");
});

Deno.test("libraries: where there is no file of its name, one that offers its functions is it, whatever that is called", async () => {
  using root = temporary();
  Deno.mkdirSync(root.file("proc/100/map_files"), { recursive: true });
  Deno.symlinkSync("/opt/program", root.file("proc/100/exe"));
  const [from, to] = ["7f0000000000", "7f0000100000"];
  Deno.writeFileSync(root.file(`proc/100/map_files/${from}-${to}`), makeElf({ llama_decode: "55" }));
  Deno.writeTextFileSync(root.file("proc/100/maps"), `${from}-${to} r-xp 00000000 08:01 70 /app/addon.node\n`);
  const files = new FilesOnce(new FolderFiles(root.path)), need = { prefix: "libllama.", symbols: ["llama_decode"] };
  const names = async (inside?: "alone") => (await findLibraries(files, 100, { ...need, ...inside && { inside } }, [])).map(({ name }) => name);
  assert.deepEqual([await names(), await names("alone")], [[], ["addon.node"]]);
});

Deno.test("libraries: of `ld.so ./engine` the program is the engine, and not the loader that was started", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  proc.process(100, 1, "ld-linux-x86-64");
  Deno.writeTextFileSync(root.file("proc/100/cmdline"), "/lib64/ld-linux-x86-64.so.2\0./engine\0");
  proc.program(100, "/lib64/ld-linux-x86-64.so.2");
  const find = async () => {
    const found = await findLibraries(new FilesOnce(proc.files), 100, { prefix: "libllama.", symbols: ["llama_decode"] }, []);
    return found.map(({ name, isProgram }) => [name, isProgram]);
  };
  proc.map(100, "/lib64/ld-linux-x86-64.so.2", 5, makeElf({ _dl_main: "55" }));
  assert.deepEqual(await find(), []);
  proc.map(100, "/opt/engine", 6, makeElf({ llama_decode: "55" }, false));
  assert.deepEqual(await find(), [["engine", true]]);
});

/** Processes that have mapped the same file, and what is read of it for them; of `gone` nothing can be read. */
function twoWithOneFile(root: string, gone?: number) {
  const proc = new FakeProc(root);
  for (const pid of [100, 200]) proc.map(pid, "/opt/libllama.so", 5, makeElf({ llama_decode: "55" }));
  const reads: string[] = [];
  const counted: FolderFiles = Object.assign(Object.create(proc.files), {
    bytes: (path: string, offset: number, length: number) => {
      reads.push(path);
      return path.startsWith(`/proc/${gone}/`) ? Promise.resolve(null) : proc.files.bytes(path, offset, length);
    },
  });
  const files = new FilesOnce(counted), need = { prefix: "libllama.", symbols: ["llama_decode"] }, others: string[] = [];
  return { reads, find: (pid: number) => findLibraries(files, pid, need, others) };
}

Deno.test("libraries: what many processes have mapped is read once and looked through once, and each has its own way to it", async () => {
  using root = temporary();
  const { reads, find } = twoWithOneFile(root.path);
  const [[one], [other]] = await Promise.all([find(100), find(200)]);
  assert.equal(reads.length, 1, reads.join(" "));
  assert.equal(other!.functions, one!.functions);
  assert.match(one!.file, /^\/proc\/100\/map_files\//);
  assert.match(other!.file, /^\/proc\/200\/map_files\//);
});

Deno.test("libraries: what cannot be read through a process that has ended is read through another", async () => {
  using root = temporary();
  const { find } = twoWithOneFile(root.path, 100);
  const names = [await find(100), await find(200)].map((libraries) => libraries.map(({ name }) => name));
  assert.deepEqual(names, [[], ["libllama.so"]]);
});
