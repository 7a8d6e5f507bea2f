/** While it runs nobody else can read what llmprof keeps for itself; outputs are the caller's, and as open as the caller's mask lets them be. */
import assert from "node:assert/strict";
import { mustRun } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { needs, stopped } from "./fault_tests.ts";
import { faultyRun } from "./faulty_run.ts";
import { outputPath } from "./live_run.ts";
import { lookAtFiles } from "./seen_files.ts";

/** Two users that need no entry in any database. */
const caller = { uid: 54321, gid: 54322 };
const other = ["setpriv", "--reuid", "54331", "--regid", "54332", "--clear-groups"];
const sudo = [`SUDO_UID=${caller.uid}`, `SUDO_GID=${caller.gid}`, `SUDO_USER=#${caller.uid}`];
const formats = ["pftrace", "json", "jsonl", "pftrace.gz", "llmprof"];
const cache = "/var/cache/llmprof";

/** Of these, what another user can read. */
async function readable(paths: readonly string[]): Promise<string[]> {
  const { stdout } = await mustRun([...other, "sh", "-c", 'for path; do if [ -r "$path" ]; then printf "%s\\n" "$path"; fi; done', "sh", ...paths]);
  return stdout.split("\n").slice(0, -1);
}

for (const [index, [umask, flags]] of ([[0o000, []], [0o027, ["--redact"]]] as const).entries()) {
  const how = ["a mask of", umask.toString(8).padStart(3, "0"), ...flags].join(" ");
  sampledTest(index, `files: nobody else can read what a run keeps, and what it writes is the caller's: ${how}`, needs, async ({ path }) => {
    using kept = temporary();
    using folder = temporary();
    // A bpftrace that nobody knows yet is asked what it can do, and what a hit costs with it is measured by programs in the folder of temporary files.
    const bpftrace = folder.file("bpftrace");
    Deno.writeTextFileSync(bpftrace, `#!/bin/sh\nexec "${path}" "$@"\n`);
    Deno.chmodSync(bpftrace, 0o755);
    Deno.chmodSync(kept.path, 0o1777);
    await using looking = lookAtFiles([kept.path, cache]);
    const under = ["env", `TMPDIR=${kept.path}`, ...sudo, "sh", "-c", `umask ${umask.toString(8)}; exec "$@"`, "sh"];
    await using run = await faultyRun({ bpftrace, by: "pid", formats, flags: ["--calibrate", ...flags], under });
    looking.follow(run.llmprof.pid);
    await run.at("counting");
    const outputs = formats.map((format) => outputPath(run.folder, format));
    const recording = outputs.at(-1)!;
    const streams = [...Deno.readDirSync(recording)].map(({ name }) => `${recording}/${name}`);
    const files = [...outputs.slice(0, -1), ...streams];
    const others = await readable([...new Set([...looking.seen.keys(), recording, ...files])]);
    assert.deepEqual(others.toSorted(), umask === 0 ? [recording, ...files].toSorted() : [], "while it counts");
    const theirs = () => files.map((file) => Deno.lstatSync(file)).map(({ mode, uid, gid }) => ({ mode: mode! & 0o7777, uid, gid }));
    const callers = files.map(() => ({ mode: 0o666 & ~umask, ...caller }));
    assert.deepEqual(theirs(), callers, "while it counts");
    const expected = stopped(run, "SIGINT");
    await run.llmprof.saw("Wrote ");
    await looking.stop();
    assert.deepEqual(theirs(), callers, "at the end");
    const { mode, uid, gid } = Deno.lstatSync(recording);
    assert.deepEqual({ mode: mode! & 0o777, uid, gid }, { mode: 0o777 & ~umask, ...caller });
    await run.end(expected);
    const all = [...looking.seen];
    // All that there is was looked at.
    for (const file of files.filter((file) => !file.endsWith("/header.json"))) {
      assert.ok(looking.seen.get(file)?.isWritten, `${file} was seen while it was written`);
    }
    for (const kind of [/^\/run\/llmprof-\w+\/./, /\/llmprof-calibration-\w+\/llmprof-hits$/, /^\/var\/cache\/llmprof\/features-/]) {
      assert.ok(all.some(([path]) => kind.test(path)), `something like ${kind} was seen`);
    }
    const own = all.filter(([path]) => !path.startsWith(run.folder.path));
    const open = own.filter(([, { mode, uid }]) => (mode & 0o077) !== 0 || uid !== 0);
    assert.deepEqual(open.map(([path, { mode, uid }]) => `${path}: ${mode.toString(8)} of ${uid}`), []);
  }, umask === 0);
}
