/** A program is started from wherever it lies, and read of as elsewhere. */
import assert from "node:assert/strict";
import { type Finished, start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { summaryOf } from "./live_run.ts";

const NAMES = ["buffered", "direct", "mapped", "ahead"], SIZE = 1009 * 4096;

/** What the program reads. */
function readFiles(): Temporary {
  const files = temporary();
  for (const name of NAMES) Deno.writeFileSync(files.file(name), new Uint8Array(SIZE).fill(7));
  return files;
}

/** All that it read is told, as in the book that it keeps. */
function assertRead(ended: Finished): void {
  const { result } = summaryOf("io", ended);
  const books = ended.stderr.split("\n").filter((line) => line.startsWith('{"file"')).map((line) => JSON.parse(line));
  assert.deepEqual(books.map(({ file }) => file), NAMES);
  const told = NAMES.map((name) => result.files.find(({ file }) => file === name));
  assert.deepEqual(told.map((file) => [file?.reads, file?.readBytes]), books.map(({ reads, bytes }) => [reads, bytes]));
}

const io = (bpftrace: string) => [...llmprof, "io", "--bpftrace", bpftrace, "--no-output", "--summary", "json", "--"];

sampledTest(1, "io: of a program below /dev or /proc, where Deno lets nobody look, reads are those of its book", {
  gcc: true,
}, async ({ path }) => {
  using files = readFiles();
  using memory = temporary("/dev/shm");
  Deno.copyFileSync(built.reads, memory.file("reads"));
  Deno.symlinkSync(memory.file("reads"), files.file("link"));
  // In its own root another program has that name here.
  const apart = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /usr/bin/true && echo mounted && exec sleep 600', built.reads];
  await using other = start(apart, { timeoutMilliseconds: 600_000 });
  await other.saw("mounted");
  for (const program of [`/proc/${other.pid}/root/usr/bin/true`, "./reads", memory.file("reads"), files.file("link")]) {
    await using tracer = start([...io(path), program, files.path], { cwd: memory.path });
    assertRead(await tracer.finished());
  }
});

sampledTest(1, "io: of a program that its user alone may reach, not root, reads are those of its book", { gcc: true }, async ({ path }) => {
  using files = readFiles();
  using home = temporary();
  const user = 54321;
  Deno.copyFileSync(built.reads, home.file("reads"));
  Deno.chmodSync(home.path, 0o700);
  Deno.chownSync(home.path, user, user);
  // Root to whom a folder may be closed, as on NFS and FUSE.
  const bound = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "env", `SUDO_UID=${user}`, `SUDO_GID=${user}`, `SUDO_USER=#${user}`];
  await using tracer = start([...bound, ...io(path), home.file("reads"), files.path], { cwd: "/" });
  assertRead(await tracer.finished());
  // Nor can anything be started from there.
  const from = ["sh", "-c", 'cd "$0" && exec "$@"', home.path, ...bound];
  await using within = start([...from, ...io(path), "./reads", files.path]);
  const { code, stderr } = await within.finished();
  assert.match(stderr, /^[a-z]+ could not be started\. The current folder is closed to llmprof, as those of users/);
  assert.equal(code, 2);
  await using doctor = start([...from, ...llmprof, "doctor"]);
  assert.deepEqual([(await doctor.finished()).code, doctor.stderr()], [2, stderr.replace(/^[a-z]+/, "cat")]);
});
