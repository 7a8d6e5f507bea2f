import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { access } from "../files/access.ts";
import { life } from "./life.ts";
import { running } from "./running.ts";

const codes = (lines: readonly string[]) => lines.map((line) => /"in (.*)" (\d+)/.exec(line)!.slice(1, 3).join(" "));

Deno.test("running: whose code it is, by what is mapped there when it ran; the program's own as soon as somebody has looked", () => {
  const d = new Decoding(running, access, life);
  const sample = (at: number, ip: number, who?: string) => d.event(at, "process/running.sample", { ip }, who);
  d.event(1, "process/life.exec", { file: "engine" });
  sample(2, 0x400100);
  sample(3, -1);
  d.event(4, "files/access.map", { address: 0x7000, length: 0x1000, name: "libtorch.so" });
  d.event(4, "files/access.anonymous", { address: 0x9000, length: 0x1000 });
  sample(5, 0x7fff, "100/101");
  sample(6, 0x9000);
  d.event(7, "files/access.unmap", { address: 0x7000, length: 0x1000 });
  d.event(7, "process/life.task", { id: 200 });
  sample(8, 0x9001, "200");
  assert.deepEqual(codes(d.told()), ["the kernel 3", "libtorch.so 5", "code that is in no file 6", "code that is in no file 8"]);
  sample(9, 0x7fff);
  d.fact(10, { fact: "mapped", pid: 100, files: [{ at: 0x400000, bytes: 0x1000, offset: 0, dev: 1, inode: 2, file: "engine", isCode: true }] });
  sample(11, 0x400200);
  assert.deepEqual(codes(d.told()), ["engine 11"]);
  assert.deepEqual(codes(d.end(20)), ["engine 2", "unknown code 9"]);
});
