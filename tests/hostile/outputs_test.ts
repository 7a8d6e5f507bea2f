/** Files are written as the user who called sudo, and never through what somebody else planted. */
import assert from "node:assert/strict";
import { demoFolder } from "../cli/demo_recording.ts";
import { run } from "../harness/command.ts";
import { kernelTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";

/** Two users that need no entry in any database: who calls sudo, and who plants. */
const caller = { uid: 54321, gid: 54322 };
const other = { uid: 54331, gid: 54332 };
const sudo = { SUDO_UID: String(caller.uid), SUDO_GID: String(caller.gid), SUDO_USER: `#${caller.uid}` };

/** A folder that everybody may write to, with the sticky bit of /tmp or without. */
function shared(mode: number): Temporary {
  const folder = temporary();
  Deno.chmodSync(folder.path, mode);
  return folder;
}

async function asOther(...argv: string[]): Promise<void> {
  const { code, stderr } = await run(["setpriv", "--reuid", `${other.uid}`, "--regid", `${other.gid}`, "--clear-groups", ...argv]);
  assert.equal(code, 0, stderr);
}

const export_ = (recording: string, output: string) =>
  run([...llmprof, "export", recording, "-o", output], { env: sudo, timeoutMilliseconds: 20_000 });

/** What is planted at a path, and what is said of it. */
const planted: readonly (readonly [what: string, plant: (path: string, victim: string) => Promise<void>, said: RegExp])[] = [
  ["a link", (path, victim) => asOther("ln", "-s", victim, path), /It is a link/],
  ["a link to nothing", (path, victim) => asOther("ln", "-s", `${victim}.new`, path), /It is a link/],
  ["a FIFO", (path) => asOther("mkfifo", "-m", "666", path), /It is a FIFO/],
  ["a folder", (path) => asOther("mkdir", path), /It is a folder/],
  [
    "another user's file",
    (path) => asOther("sh", "-c", 'echo planted > "$1"; chmod 666 "$1"', "sh", path),
    /It belongs to another user|Permission denied|permission denied/,
  ],
  ["a second name of a file", (path, victim) => Promise.resolve(Deno.linkSync(victim, path)), /It has a second name/],
  ["a device", (path) => run(["mknod", path, "c", "1", "3"]).then(() => {}), /It is a device/],
];

for (const mode of [0o1777, 0o777]) {
  kernelTest(`outputs: what others planted in a folder of mode ${mode.toString(8)} is not written to`, { root: true }, async () => {
    using home = temporary();
    const recording = await demoFolder(home.path);
    const victim = home.file("victim");
    for (const [what, plant, said] of planted) {
      using folder = shared(mode);
      Deno.writeTextFileSync(victim, "kept");
      const path = folder.file("llmprof-trace.pftrace");
      await plant(path, victim);
      const before = Deno.lstatSync(path);
      const { code, stderr } = await export_(recording, path);
      assert.match(stderr, said, what);
      assert.match(stderr, /another path with -o PATH\.\n$/);
      assert.equal(code, 2, what);
      const after = Deno.lstatSync(path);
      assert.deepEqual([after.ino, after.uid, after.size], [before.ino, before.uid, before.size], `${what} is left alone`);
      assert.equal(Deno.readTextFileSync(victim), "kept", what);
      assert.equal(Deno.statSync(victim).uid, 0, "nothing was given away");
      assert.throws(() => Deno.lstatSync(`${victim}.new`), Deno.errors.NotFound);
    }
  });
}

kernelTest("outputs: no link that others planted is written through, whatever is written there", { root: true }, async () => {
  using home = temporary();
  const recording = await demoFolder(home.path);
  const victim = home.file("victim");
  Deno.writeTextFileSync(victim, "kept");
  for (
    const [name, ...words] of [
      ["run.llmprof", "coldstart", "--pid", "1", "-o"],
      ["run.json.gz", "coldstart", "--from", recording, "-o"],
      ["graph.dot", "operators", "--pid", "1", "-o"],
      ["calls.jsonl", "gpu", "--pid", "1", "--no-output", "--cuda-jsonl"],
      ["io.jsonl", "io", "--all", "--no-output", "--snapshots"],
      ["sched.jsonl", "sched", "--all", "--no-output", "--snapshots"],
    ] as const
  ) {
    using folder = shared(0o777);
    const path = folder.file(name);
    for (const leads of [victim, `${victim}.new`]) {
      await asOther("ln", "-s", leads, path);
      const { code, stderr } = await run([...llmprof, ...words, path], { env: sudo, timeoutMilliseconds: 20_000 });
      assert.deepEqual([code, Deno.readLinkSync(path)], [2, leads], stderr);
      assert.match(stderr, /It is a link|run\.llmprof exists already/);
      Deno.removeSync(path);
    }
  }
  assert.deepEqual([...Deno.readDirSync(home.path)].filter(({ name }) => name.startsWith("victim")).map(({ name }) => name), ["victim"]);
  assert.equal(Deno.readTextFileSync(victim), "kept");
});

kernelTest("outputs: root without sudo writes no file that somebody else would read", { root: true }, async () => {
  using home = temporary();
  using folder = shared(0o777);
  const path = folder.file("a.json");
  await asOther("sh", "-c", 'echo planted > "$1"; chmod 666 "$1"', "sh", path);
  const { code, stderr } = await run([...llmprof, "export", await demoFolder(home.path), "-o", path]);
  assert.equal(code, 2);
  assert.match(stderr, /It belongs to another user/);
  assert.equal(Deno.readTextFileSync(path), "planted\n");
});

kernelTest("outputs: under sudo they belong to the user who called it; a file that is there stays whose it is", { root: true }, async () => {
  using folder = temporary();
  const recording = await demoFolder(folder.path);
  Deno.writeTextFileSync(folder.file("old.json"), "x".repeat(1e6));
  for (const name of ["new.pftrace", "new.json.gz", "old.json"]) assert.equal((await export_(recording, folder.file(name))).code, 0);
  const owner = (name: string) => {
    const { uid, gid } = Deno.statSync(folder.file(name));
    return { uid, gid };
  };
  assert.deepEqual([owner("new.pftrace"), owner("new.json.gz"), owner("old.json")], [caller, caller, { uid: 0, gid: 0 }]);
  JSON.parse(Deno.readTextFileSync(folder.file("old.json")));
});

kernelTest("outputs: a recording and the target's files under sudo are the caller's, and so is the target", { bpftrace: true }, async () => {
  using folder = temporary();
  const script = 'id -u; id -g; id -G; echo "$LD_LIBRARY_PATH:$HOSTILE"; umask';
  const env = { ...sudo, LD_LIBRARY_PATH: "/none", HOSTILE: '"; id' };
  const argv = [
    ...llmprof,
    "coldstart",
    "-o",
    folder.file("a.llmprof"),
    "-o",
    folder.file("a.json"),
    "--quiet",
    "--",
    "sh",
    "-c",
    `(${script}) > ${folder.file("who")}`,
  ];
  Deno.chmodSync(folder.path, 0o1777);
  const { code, stderr } = await run(argv, { env, cwd: folder.path });
  assert.equal(code, 0, stderr);
  const [uid, gid, groups, environment] = Deno.readTextFileSync(folder.file("who")).split("\n");
  assert.deepEqual([uid, gid, groups, environment], [String(caller.uid), String(caller.gid), String(caller.gid), '/none:"; id']);
  const paths = ["a.json", "a.llmprof", ...[...Deno.readDirSync(folder.file("a.llmprof"))].map(({ name }) => `a.llmprof/${name}`)];
  assert.ok(paths.length >= 5);
  for (const path of paths) {
    assert.deepEqual([Deno.lstatSync(folder.file(path)).uid, Deno.lstatSync(folder.file(path)).gid], [caller.uid, caller.gid], path);
  }
});
