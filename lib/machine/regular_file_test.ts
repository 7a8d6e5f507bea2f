import assert from "node:assert/strict";
import { mustRun, run } from "../../tests/harness/command.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { RefusedFile, RegularFile } from "./regular_file.ts";

Deno.test("regular file: a plain one that becomes a link to nothing while it is opened makes nothing where the link leads", async () => {
  using folder = temporary();
  const path = folder.file("a.json"), victim = folder.file("victim");
  Deno.writeTextFileSync(path, "");
  const exchange = `
    const [path, victim] = ${JSON.stringify([path, victim])};
    postMessage("begun");
    for (const end = performance.now() + 2100; performance.now() < end;) {
      Deno.symlinkSync(victim, path + ".link");
      Deno.renameSync(path + ".link", path);
      Deno.writeTextFileSync(path + ".plain", "");
      Deno.renameSync(path + ".plain", path);
    }
    postMessage("ended");`;
  const worker = new Worker(URL.createObjectURL(new Blob([exchange], { type: "text/javascript" })), { type: "module" });
  const says = () => new Promise((resolve) => worker.onmessage = resolve);
  await says();
  const ended = says();
  let opened = 0, refused = 0;
  for (const end = performance.now() + 2000; performance.now() < end;) {
    try {
      RegularFile.create(path, null).close();
      opened++;
    } catch (error) {
      assert.ok(error instanceof RefusedFile, String(error));
      refused++;
    }
  }
  await ended;
  worker.terminate();
  assert.ok(opened > 0 && refused > 0, `${opened} opened, ${refused} refused`);
  assert.throws(() => Deno.lstatSync(victim), Deno.errors.NotFound);
});

Deno.test({
  name: "regular file: root fills no file of somebody else who would read it, and the owner's own",
  ignore: Deno.uid() !== 0,
  fn() {
    using folder = temporary();
    const path = folder.file("a.json");
    Deno.writeTextFileSync(path, "");
    RegularFile.create(path, null).close();
    Deno.chownSync(path, 1234, 1234);
    assert.throws(() => RegularFile.create(path, null), { name: "RefusedFile", message: "belongs to another user (uid 1234)." });
    assert.throws(() => RegularFile.create(path, { uid: 1235, gid: 1235 }), { name: "RefusedFile" });
    RegularFile.create(path, { uid: 1234, gid: 1234 }).close();
    assert.deepEqual([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["a.json"]);
  },
});

Deno.test({
  name: "regular file: users who share a folder write into one another's, but not where everybody may make files",
  ignore: Deno.uid() !== 0,
  async fn() {
    using folder = temporary();
    Deno.chmodSync(folder.path, 0o777);
    const path = folder.file("a.json");
    Deno.writeTextFileSync(path, "");
    Deno.chmodSync(path, 0o666);
    Deno.chownSync(path, 1234, 1234);
    // As somebody else, who may read no file of root's.
    const bundle = folder.file("write.js"), deno = folder.file("deno");
    const script = `import { RegularFile } from ${JSON.stringify(new URL("./regular_file.ts", import.meta.url).href)};
      RegularFile.create(Deno.args[0], null).close();`;
    Deno.writeTextFileSync(folder.file("write.ts"), script);
    await mustRun([Deno.execPath(), "bundle", "--quiet", "--platform", "deno", "--output", bundle, folder.file("write.ts")]);
    // By another process: what this one has open to write, a child that another test starts has open for a moment, too, and nobody runs it meanwhile.
    await mustRun(["cp", Deno.execPath(), deno]);
    const write = () =>
      run(["setpriv", "--reuid", "1235", "--regid", "1235", "--clear-groups", "env", `DENO_DIR=${folder.path}`, deno, "run", "-A", bundle, path], {
        cwd: folder.path,
      });
    assert.equal((await write()).code, 0);
    Deno.chmodSync(folder.path, 0o1777);
    assert.match((await write()).stderr, /belongs to another user \(uid 1234\)/);
  },
});
