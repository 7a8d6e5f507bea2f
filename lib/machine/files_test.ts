import assert from "node:assert/strict";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import type { KernelFiles } from "./files.ts";
import { ReaderFiles } from "./reader_files.ts";

/** The same machine read in both ways; paths are made by `at`. */
async function withFolder(check: (files: KernelFiles, at: (path: string) => string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${root}/events/sched/sched_switch`, { recursive: true });
    await Deno.mkdir(`${root}/events/block/block_rq_issue`, { recursive: true });
    await Deno.writeTextFile(`${root}/events/enable`, "0\n");
    await Deno.writeTextFile(`${root}/a\nb`, "name with a newline");
    await Deno.writeTextFile(`${root}/empty`, "");
    await Deno.writeFile(`${root}/bytes`, Uint8Array.from({ length: 300 }, (_, i) => i % 256));
    await Deno.writeTextFile(`${root}/program`, "#!/bin/sh\n", { mode: 0o755 });
    await Deno.symlink("pid:[4026531836]", `${root}/pid`);
    await Deno.symlink("events", `${root}/link`);
    await Deno.symlink("../bytes", `${root}/events/bytes`);
    await check(new ReaderFiles(), (path) => root + path);
    await check(new FolderFiles(root), (path) => path);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("files: text is the whole file, null when there is none or it is a folder", () =>
  withFolder(async (files, at) => {
    assert.equal(await files.text(at("/events/enable")), "0\n");
    assert.equal(await files.text(at("/empty")), "");
    assert.equal(await files.text(at("/absent")), null);
    assert.equal(await files.text(at("/events")), null);
  }));

Deno.test("files: many texts keep their order, absent ones are null", () =>
  withFolder(async (files, at) => {
    // Of some of these `cat` complains in quotes.
    const paths = ["/absent", "/events/enable", "/empty", "/a\nb", "/ab sent", "/ab\\x2dsent", "/a:b", "/it's absent"].map(at);
    assert.deepEqual(await files.texts(paths), [null, "0\n", "", "name with a newline", null, null, null, null]);
    assert.deepEqual(await files.texts([]), []);
  }));

Deno.test("files: a piece of a file, short at its end, null when absent", () =>
  withFolder(async (files, at) => {
    assert.deepEqual([...(await files.bytes(at("/bytes"), 254, 4))!], [254, 255, 0, 1]);
    assert.equal((await files.bytes(at("/bytes"), 290, 100))!.length, 10);
    assert.equal((await files.bytes(at("/bytes"), 1000, 10))?.length ?? 0, 0);
    assert.equal((await files.bytes(at("/bytes"), 0, 0))!.length, 0);
    assert.equal(await files.bytes(at("/absent"), 0, 4), null);
  }));

Deno.test("files: names in a folder and two levels below", () =>
  withFolder(async (files, at) => {
    assert.deepEqual((await files.list(at(""))).sort(), ["a\nb", "bytes", "empty", "events", "link", "pid", "program"]);
    assert.deepEqual((await files.grandchildren(at("/events"))).sort(), ["block/block_rq_issue", "sched/sched_switch"]);
    assert.deepEqual(await files.list(at("/absent")), []);
    assert.deepEqual(await files.grandchildren(at("/absent")), []);
  }));

Deno.test("files: links as the kernel words them", () =>
  withFolder(async (files, at) => {
    assert.equal(await files.link(at("/pid")), "pid:[4026531836]");
    assert.equal(await files.link(at("/empty")), null);
    assert.deepEqual(await files.links(at("")), new Map([["pid", "pid:[4026531836]"], ["link", "events"]]));
    assert.deepEqual(await Promise.all(["/link/bytes", "/empty", "/pid", "/absent"].map((path) => files.realPath(at(path)))), [
      at("/bytes"),
      at("/empty"),
      null,
      null,
    ]);
  }));

Deno.test("files: what exists, and the permission bits of regular files", () =>
  withFolder(async (files, at) => {
    assert.equal(await files.exists(at("/empty")), true);
    assert.equal(await files.exists(at("/absent")), false);
    const modes = await files.modes([at("/absent"), at("/program"), at("/events")]);
    assert.deepEqual([...modes], [[at("/program"), 0o755]]);
    assert.deepEqual(await files.modes([]), new Map());
  }));

Deno.test("files: a file that holds the separator of many texts does not shift the others", async () => {
  const files = new ReaderFiles();
  const bootId = (await files.text("/proc/sys/kernel/random/boot_id"))!;
  const dir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${dir}/hostile`, `x${bootId}y`);
    await Deno.writeTextFile(`${dir}/next`, "next");
    assert.deepEqual(await files.texts([`${dir}/hostile`, `${dir}/next`]), [`x${bootId}y`, "next"]);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("files: the separator of many texts is one of those that can be asked for", async () => {
  const [bootId, ostype] = ["/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/ostype"];
  const expected = Deno.readTextFileSync(bootId);
  assert.deepEqual(await new ReaderFiles().texts([bootId, ostype, "/absent", bootId]), [expected, "Linux\n", null, expected]);
});

Deno.test("files: what Deno itself may not open is read", async () => {
  const files = new ReaderFiles();
  assert.match((await files.text("/proc/self/stat"))!, /\(cat\)/);
  assert.match(new TextDecoder().decode((await files.bytes("/proc/self/stat", 0, 64))!), /\(dd\)/);
  assert.ok((await files.list("/proc")).includes("self"));
});

Deno.test("files: more files than one command line takes", async () => {
  const texts = await new ReaderFiles().texts(Array.from({ length: 1201 }, () => "/proc/sys/kernel/ostype"));
  assert.equal(texts.length, 1201);
  assert.ok(texts.every((text) => text === "Linux\n"));
});

Deno.test("files: a name that begins like an option is a path", async () => {
  assert.equal(await new ReaderFiles().text("--version"), null);
  assert.equal(await new ReaderFiles().exists("-delete"), false);
});

Deno.test("files: offsets that are no numbers of bytes read nothing", async () => {
  for (const [offset, length] of [[-1, 4], [0, -4], [NaN, 4], [0.5, 4], [0, 2 ** 60]] as const) {
    assert.equal(await new ReaderFiles().bytes("/proc/self/stat", offset, length), null);
  }
});

const isRoot = Deno.uid() === 0;
Deno.test({
  name: `files: as another user sees them${isRoot ? "" : " (skipped: needs root)"}`,
  ignore: !isRoot,
  fn: async () => {
    using folder = temporary();
    const [open, closed] = [folder.file("open"), folder.file("closed/program")];
    Deno.mkdirSync(folder.file("closed"), { mode: 0o700 });
    for (const path of [open, closed]) Deno.writeTextFileSync(path, "x", { mode: 0o755 });
    const seenBy = async (files: ReaderFiles) => [
      [...(await files.modes([open, closed])).keys()],
      await Promise.all([open, closed].map((path) => files.realPath(path))),
      await files.texts([open, closed]),
      await files.list(folder.file("closed")),
      /^Uid:\s+(\d+)/m.exec((await files.text("/proc/self/status"))!)![1],
    ];
    const [real, hidden] = [open, closed].map((path) => Deno.realPathSync(path));
    assert.deepEqual(await seenBy(new ReaderFiles({ uid: 65534, gid: 65534, groups: "clear" })), [[open], [real, null], ["x", null], [], "65534"]);
    assert.deepEqual(await seenBy(new ReaderFiles()), [[open, closed], [real, hidden], ["x", "x"], ["program"], "0"]);
  },
});
