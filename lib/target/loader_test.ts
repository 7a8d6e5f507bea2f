import assert from "node:assert/strict";
import { loadedBy } from "./loader.ts";

Deno.test("loader: the program that it was told to run, behind options of its own", () => {
  const of = (line: string) => loadedBy(line.split(" "));
  assert.equal(of("/lib64/ld-linux-x86-64.so.2 ./engine --model m.gguf"), "engine");
  assert.equal(of("lib/ld.so --library-path /opt/lib --preload /opt/libx.so --inhibit-cache /opt/engine"), "engine");
  assert.equal(of("/lib/ld-musl-x86_64.so.1 --library-path=/opt engine"), "engine");
  for (const line of ["ld -o a.out x.o", "ld.lld x.o", "engine ld.so", "/lib64/ld-linux-x86-64.so.2 --help"]) assert.equal(of(line), undefined, line);
});
