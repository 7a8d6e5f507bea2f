import assert from "node:assert/strict";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { checkProgram } from "./program_path.ts";

Deno.test("program: it is found as a shell finds it, by the file's own name, and what cannot be started is told", async () => {
  using folder = temporary();
  const dir = Deno.realPathSync(folder.path);
  const check = (name: string, path?: string) => checkProgram(new ReaderFiles(), name, path, dir);
  Deno.writeTextFileSync(`${dir}/plain`, "x");
  Deno.writeTextFileSync(`${dir}/fine`, "x", { mode: 0o755 });
  Deno.symlinkSync("fine", `${dir}/link`);
  await assert.rejects(check("plain", dir), { exitCode: 2, next: `Run: chmod +x ${dir}/plain` });
  Deno.mkdirSync(`${dir}/a folder`);
  Deno.writeTextFileSync(`${dir}/a folder/plain`, "x");
  await assert.rejects(check("./a folder/plain"), { next: `Run: chmod +x '${dir}/./a folder/plain'` });
  await assert.rejects(check("absent", dir), { exitCode: 2, why: "It is in no folder of PATH." });
  await assert.rejects(check("./absent"), { exitCode: 2, why: /^There is no program of that name, or/ });
  await assert.rejects(check(""), { exitCode: 2 });
  await assert.rejects(check(dir), { exitCode: 2 });
  const [here, elsewhere] = [`/proc/${Deno.pid}/root${dir}/fine`, "/proc/7/root/bin/sh"];
  assert.equal(await check(here), `${dir}/fine`);
  // As seen by a child to which that is another root.
  const files = Object.assign(new FolderFiles("/"), {
    modes: (paths: readonly string[]) => Promise.resolve(new Map(paths.map((path) => [path, 0o755]))),
    realPath: () => Promise.resolve("/bin/sh"),
    identities: (paths: readonly string[]) =>
      Promise.resolve(new Map(paths.map((path, i) => [path, { device: "1", inode: String(i), changed: "0" }]))),
  });
  assert.equal(await checkProgram(files, elsewhere, undefined, "/"), elsewhere);
  const found = [check("./fine"), check("fine", "/nonexistent::x"), check("./link"), check(`${dir}/link`), check("link", dir)];
  assert.deepEqual(await Promise.all(found), found.map(() => `${dir}/fine`));
});
