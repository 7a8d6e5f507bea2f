import assert from "node:assert/strict";
import { FileKeys, type ToldFile } from "./file_keys.ts";

Deno.test("file keys: two of a name on one device are two files, one on each of two devices is one", () => {
  const keys = new FileKeys();
  const files: ToldFile[] = [
    { file: "model.safetensors", dev: 1, inode: 10 },
    { file: "model.safetensors", dev: 1, inode: 11 },
    { file: "libc.so.6", dev: 1, inode: 12 },
    { file: "libc.so.6", dev: 2, inode: 90 },
    { file: "libc.so.6" },
    { file: "inode 13", dev: 1, inode: 13 },
    { file: "late.gguf", dev: 1, inode: 13 },
    { file: "inode 13", dev: 1, inode: 13 },
  ];
  const told = files.map((file) => keys.of(file));
  const shown = keys.shown();
  const names = ["model.safetensors (inode 10)", "model.safetensors (inode 11)", ...Array(3).fill("libc.so.6"), ...Array(3).fill("late.gguf")];
  assert.deepEqual(told.map((key) => shown.get(key)), names);
});
