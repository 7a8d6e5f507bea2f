import assert from "node:assert/strict";
import * as fs from "node:fs";
import { temporary } from "../../tests/harness/temporary.ts";
import { outputFolder } from "./output_folder.ts";

Deno.test({
  name: "output folder: each that is made on the way is the owner's, and none that was there",
  ignore: Deno.uid() !== 0,
  fn() {
    using folder = temporary();
    fs.mkdirSync(folder.file("there"));
    outputFolder(folder.file("there/new/deep"), { uid: 1234, gid: 1235 }, "-o DIR");
    assert.deepEqual(["there", "there/new", "there/new/deep"].map((path) => fs.statSync(folder.file(path)).uid), [0, 1234, 1234]);
  },
});

Deno.test({
  name: "output folder: those that are made behind a link are the owner's, and the link's own folder is not",
  ignore: Deno.uid() !== 0,
  fn() {
    using folder = temporary();
    fs.mkdirSync(folder.file("there"));
    fs.symlinkSync("there", folder.file("link"));
    outputFolder(folder.file("link/new/deep/"), { uid: 1234, gid: 1235 }, "-o DIR");
    assert.deepEqual(["link", "link/new", "link/new/deep"].map((path) => fs.statSync(folder.file(path)).uid), [0, 1234, 1234]);
  },
});
