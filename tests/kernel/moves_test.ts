/** What the kernel sends, copies and fetches of a file without a read: as much as the program asks for. */
import assert from "node:assert/strict";
import { mustRun } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { enteringOnce } from "../independent/entered.ts";
import { query } from "../judge/trace_processor.ts";
import { built } from "../setup/programs.ts";
import { dropFromCache } from "../workloads/pagecache.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { untilTold } from "./until_told.ts";

const SIZE = 1 << 20;

const drop = async (path: string) => assert.equal(await dropFromCache(path), 0, "the file lies on a disk");

sampledTest(
  1,
  "io: sendfile, splice, copy_file_range, readahead and posix_fadvise of a program, by file",
  { judge: true, gcc: true },
  async ({ path }) => {
    using folder = temporary();
    const file = folder.file("weights.bin");
    Deno.writeFileSync(file, new Uint8Array(SIZE));
    const ended = await enteringOnce(path, { [file]: SIZE }, drop, async () => {
      await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { argv: [built.moves, file, folder.file("copy")] } });
      return await llmprof.finished();
    });
    const { result, events } = summaryOf("io", ended);
    // With 0.17 answers of the disk may be: they come on top of another program.
    assert.equal(events.lost, events.skipped);
    // See moves.c.
    const [sent, spliced, copied, ahead, wanted, rest] = [7 * 5000, 11 * 3001, 5 * 7919, 13 * 65536, 3 * 4096, 2 * (SIZE - 1000)];
    const { opens, reads, readBytes, fetches, fetchedBytes, cachedBytes } = result.files.find(({ file }) => file === "weights.bin")!;
    assert.deepEqual({ opens, reads, readBytes, fetches, fetchedBytes, cachedBytes }, {
      opens: 1,
      reads: 7 + 11 + 5,
      readBytes: sent + spliced + copied,
      fetches: 13 + 3 + 2,
      fetchedBytes: ahead + wanted + rest,
      // Whatever asked for it first, each page came once.
      cachedBytes: SIZE,
    });
    const { opens: made, cachedBytes: come } = result.files.find(({ file }) => file === "copy")!;
    assert.deepEqual([made, come], [1, 0], "a file that it makes has its name, and comes from no disk");
    const told = await query(
      outputPath(folder, "pftrace"),
      `select s.name, s.category, count(*) as n, sum(a.int_value) as bytes from slice s join args a using (arg_set_id)
      where s.name like '% weights.bin' and s.category in ('file.read', 'file.fetch') and a.flat_key = 'debug.bytes' group by 1, 2 order by 1`,
    );
    assert.deepEqual(told.map(({ name, category, n, bytes }) => [name, category, Number(n), Number(bytes)]), [
      ["copy_file_range weights.bin", "file.read", 5, copied],
      ["posix_fadvise weights.bin", "file.fetch", 3 + 2, wanted + rest],
      ["readahead weights.bin", "file.fetch", 13, ahead],
      ["sendfile weights.bin", "file.read", 7, sent],
      ["splice weights.bin", "file.read", 11, spliced],
    ]);
  },
);

sampledTest(1, "io: what a container's file brings from the disk is the file's, though another file system has it", {}, async ({ path }) => {
  using folder = temporary();
  for (const layer of ["upper", "lower", "merged"]) Deno.mkdirSync(folder.file(layer));
  const [lower, merged] = [folder.file("lower"), folder.file("merged")], file = `${lower}/weights.bin`;
  Deno.writeFileSync(file, new Uint8Array(SIZE));
  await mustRun(["mount", "-t", "overlay", "overlay", "-o", `lowerdir=${lower}:${folder.file("upper")}`, merged]);
  try {
    const ended = await enteringOnce(path, { [file]: SIZE }, drop, async () => {
      await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { argv: ["cat", `${merged}/weights.bin`] }, formats: [] });
      return await llmprof.finished();
    });
    const { result } = summaryOf("io", ended);
    const files = result.files.filter(({ cachedBytes, file }) => cachedBytes === SIZE || file === "weights.bin");
    assert.deepEqual(files.map(({ file, readBytes, cachedBytes }) => [file, readBytes, cachedBytes]), [["weights.bin", SIZE, SIZE]]);
  } finally {
    await mustRun(["umount", merged]);
  }
});

sampledTest(1, "io: a file that was open before llmprof came has its name", {}, async ({ path }) => {
  using folder = temporary();
  const file = folder.file("early.bin");
  Deno.writeFileSync(file, new Uint8Array(3 << 20));
  await using program = await untilTold(folder, ["sh", "-c", `exec 3< '${file}'; echo ready; read line; exec cat <&3 > '${folder.file("out")}'`]);
  await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { pid: program.pid }, formats: [] });
  await llmprof.saw("Tracing");
  program.go();
  const { result } = summaryOf("io", await llmprof.finished());
  assert.deepEqual(result.files.filter(({ file }) => file === "early.bin").map(({ opens, readBytes }) => [opens, readBytes]), [[0, 3 << 20]]);
});
