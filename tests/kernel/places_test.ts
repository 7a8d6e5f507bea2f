/** A program is started from wherever it lies, and read of as elsewhere. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

const NAMES = ["buffered", "direct", "mapped", "ahead"], SIZE = 1009 * 4096;

sampledTest(0, "io: of a program in memory below /dev, where Deno lets nobody look, reads are those of its book", { gcc: true }, async ({ path }) => {
  using files = temporary();
  using memory = temporary("/dev/shm");
  for (const name of NAMES) Deno.writeFileSync(files.file(name), new Uint8Array(SIZE).fill(7));
  Deno.copyFileSync(built.reads, memory.file("reads"));
  Deno.symlinkSync(memory.file("reads"), files.file("link"));
  for (const program of ["./reads", memory.file("reads"), files.file("link")]) {
    const target = { argv: [program, files.path] }, flags = ["--no-output"];
    await using llmprof = startLlmprof("io", { bpftrace: path, folder: memory, target, formats: [], flags });
    const ended = await llmprof.finished();
    const { result } = summaryOf("io", ended);
    const books = ended.stderr.split("\n").filter((line) => line.startsWith('{"file"')).map((line) => JSON.parse(line));
    assert.deepEqual(books.map(({ file }) => file), NAMES, program);
    const told = NAMES.map((name) => result.files.find(({ file }) => file === name));
    assert.deepEqual(told.map((file) => [file?.reads, file?.readBytes]), books.map(({ reads, bytes }) => [reads, bytes]));
  }
});
