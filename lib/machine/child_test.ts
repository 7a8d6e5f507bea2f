import assert from "node:assert/strict";
import { runChild, runReader, setprivArguments, spawnChild, untimely } from "./child.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { processTable, until } from "../../tests/kernel/processes.ts";
import { ReaderFiles } from "./reader_files.ts";

Deno.test("child: the command line of setpriv", () => {
  assert.deepEqual(setprivArguments({ program: "cat", args: ["-n"] }), ["--", "cat", "-n"]);
  assert.deepEqual(setprivArguments({ program: "p", parentDeath: true, newSession: true }), ["--pdeathsig", "KILL", "--", "p"]);
  assert.deepEqual(
    setprivArguments({ program: "p", user: { uid: 1000, gid: 100, groups: "init" } }),
    ["--reuid", "1000", "--regid", "100", "--init-groups", "--", "p"],
  );
  assert.deepEqual(
    setprivArguments({ program: "p", user: { uid: 7, gid: 8, groups: "clear" } }),
    ["--reuid", "7", "--regid", "8", "--clear-groups", "--", "p"],
  );
});

Deno.test("child: SIGPIPE has its default action and nothing is blocked", async () => {
  const { stdout } = await runChild({ program: "cat", args: ["/proc/self/status"] });
  const ignored = BigInt(`0x${/^SigIgn:\s*(\w+)/m.exec(stdout)![1]}`);
  assert.equal(ignored >> 12n & 1n, 0n);
  assert.match(stdout, /^SigBlk:\s*0+$/m);
});

Deno.test("child: the environment is exactly what was given", async () => {
  assert.equal((await runChild({ program: "/usr/bin/env", env: { A: "1", B: "x y" } })).stdout, "A=1\nB=x y\n");
  assert.match((await runChild({ program: "env" })).stdout, /^LC_ALL=C$/m);
});

Deno.test("child: the pid is the program's own, in a session of its own", async () => {
  const child = spawnChild({ program: "cat", newSession: true, stdin: "piped", stdout: "piped" });
  // What it echoes shows that it runs.
  const writer = child.stdin!.getWriter();
  await writer.write(new TextEncoder().encode("x"));
  const reader = child.stdout!.getReader();
  await reader.read();
  const stat = await new ReaderFiles().text(`/proc/${child.pid}/stat`);
  const session = /^(\d+) \(cat\) \S+ \d+ \d+ (\d+)/.exec(stat!)!;
  assert.equal(session[2], `${child.pid}`);
  await writer.close();
  await reader.cancel();
  assert.deepEqual(await child.status, { code: 0, signal: null });
  assert.equal(child.stderr, null);
  assert.equal(child.kill("SIGTERM"), false);
});

Deno.test("child: exit codes, signals and programs that are not there", async () => {
  assert.equal((await runChild({ program: "sh", args: ["-c", "exit 7"] })).code, 7);
  assert.equal((await runChild({ program: "sh", args: ["-c", "kill -TERM $$"] })).signal, "SIGTERM");
  const absent = await runChild({ program: "/nonexistent/program" });
  assert.ok(absent.code === 126 || absent.code === 127, `${absent.code}`);
  assert.match(absent.stderr, /No such file/);
});

Deno.test("child: the working folder", async () => {
  assert.equal((await runChild({ program: "pwd", cwd: "/" })).stdout, "/\n");
});

Deno.test("child: a reader that a Ctrl-C at the terminal ended is asked again, and its answer is whole", async () => {
  using folder = temporary();
  const path = folder.file("fifo");
  await runChild({ program: "mkfifo", args: [path] });
  const reading = runReader("cat", [path]);
  const child = () => processTable().find(({ parent, name }) => parent === Deno.pid && name === "cat")?.pid;
  const first = await until("a reader", child);
  Deno.kill(first, "SIGINT");
  await until("another reader", () => (child() ?? first) !== first);
  // It waits for who writes.
  Deno.writeTextFileSync(path, "all of it");
  assert.equal(new TextDecoder().decode((await reading).stdout), "all of it");
});

Deno.test("child: one that the kernel killed is told from one that ended by itself", async () => {
  const killed = await runChild({ program: "sh", args: ["-c", "kill -9 $$"] });
  assert.equal(untimely(killed), "Somebody killed it, or the kernel did because memory was short: see dmesg.");
  assert.equal(untimely(await runChild({ program: "sh", args: ["-c", "exit 3"] })), "It ended with code 3 and said nothing.");
  assert.equal(untimely(await runChild({ program: "sh", args: ["-c", "kill $$"] })), "It ended with SIGTERM and said nothing.");
});
