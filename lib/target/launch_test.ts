import assert from "node:assert/strict";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { until } from "../../tests/harness/until.ts";
import { plainEnvironment, type SpawnChild, spawnChild } from "../machine/child.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { readInvoker, sudoUser } from "./invoker.ts";
import { hasBegun, type LaunchMeans, launchStopped, mustNotSuspend, splitEnvironment } from "./launch.ts";
import { readCommandLine, readStat } from "./process.ts";

const files = new ReaderFiles();
const means: LaunchMeans = { files, spawn: spawnChild, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };
const asSelf = { user: null, environment: plainEnvironment, stdout: "piped", stderr: "piped" } as const;

Deno.test("launch: the program stands stopped until it is released, with the same pid", async () => {
  const pids: number[] = [];
  const child = await launchStopped(means, { ...asSelf, argv: ["sh", "-c", 'echo $$ "$1"', "x", "a  b*"], onPid: (pid) => void pids.push(pid) });
  assert.equal((await readStat(files, child.pid))!.state, "T");
  child.kill("SIGCONT");
  assert.equal(await new Response(child.stdout).text(), `${child.pid} a  b*\n`);
  assert.equal((await child.status).code, 0);
  assert.deepEqual(pids, [child.pid]);
  await child.stderr!.cancel();
});

Deno.test("launch: the environment arrives, the loader's variables too, and nothing else", async () => {
  const environment = { ...plainEnvironment, LD_LIBRARY_PATH: "/a b:/c", "LD_BAD-NAME": "x", TOKEN: "a\nb" };
  const child = await launchStopped(means, { ...asSelf, environment, argv: ["env", "-0"] });
  child.kill("SIGCONT");
  const [out] = await Promise.all([new Response(child.stdout).text(), child.stderr!.cancel(), child.status]);
  const found = new Set(out.split("\0"));
  assert.ok(found.has("LD_LIBRARY_PATH=/a b:/c") && found.has("TOKEN=a\nb"));
  assert.ok(!out.includes("BAD-NAME"));
});

Deno.test("launch: variables arrive whose names no shell can set, bash is not changed by its functions, and nobody else reads them", async () => {
  const environment = {
    ...plainEnvironment,
    LC_ALL: "xx_YY.UTF-8",
    PS1: "$ ",
    PWD: Deno.cwd(),
    SHLVL: "3",
    LD_LIBRARY_PATH: "/a b",
    "BASH_FUNC_kill%%": "() { echo killed\n}",
    "a.b": "1  2",
    "npm_config_//x/:_token": "secret",
  };
  const child = await launchStopped(means, { ...asSelf, environment, argv: ["env", "-0"] });
  assert.ok(!(await files.text(`/proc/${child.pid}/cmdline`))!.includes("secret"));
  assert.equal(await hasBegun(files, child.pid), false);
  child.kill("SIGCONT");
  const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.status]);
  assert.deepEqual(out.split("\0").filter(Boolean).sort(), Object.entries(environment).map(([name, value]) => `${name}=${value}`).sort());
  assert.equal(errors, "");
});

Deno.test("launch: it may have as many files open as it is said", async () => {
  const child = await launchStopped(means, { ...asSelf, openFiles: 211, argv: ["sh", "-c", "ulimit -S -n; ulimit -H -n"] });
  child.kill("SIGCONT");
  const [out] = await Promise.all([new Response(child.stdout).text(), child.stderr!.cancel(), child.status]);
  const hard = /^Max open files\s+\d+\s+(\S+)/m.exec(Deno.readTextFileSync("/proc/self/limits"))![1];
  assert.equal(out, `211\n${hard}\n`, "and may ask for as many as before");
});

Deno.test("launch: standard output can go where errors go", async () => {
  const child = await launchStopped(means, { ...asSelf, stdout: "stderr", argv: ["echo", "hello"] });
  child.kill("SIGCONT");
  assert.equal(await new Response(child.stderr).text(), "hello\n");
  await child.status;
});

Deno.test("launch: it has begun when somebody lets it go, also where it is stopped again, and not when it has ended", async () => {
  const child = await launchStopped(means, { ...asSelf, stdout: "null", stderr: "null", argv: ["sleep", "60"] });
  assert.equal(await hasBegun(files, child.pid), false);
  child.kill("SIGCONT");
  assert.ok(await until(async () => await hasBegun(files, child.pid) && (await readStat(files, child.pid))!.comm === "sleep"));
  child.kill("SIGSTOP");
  assert.ok(await until(async () => (await readStat(files, child.pid))!.state === "T"));
  assert.equal(await hasBegun(files, child.pid), true);
  child.kill("SIGKILL");
  await child.status;
  assert.equal(await hasBegun(files, child.pid), false);
});

Deno.test("launch: a shell that is the program has begun, stopped or not", async () => {
  for (const shell of ["sh", "bash"]) {
    const child = await launchStopped(means, { ...asSelf, stdout: "null", stderr: "null", argv: [shell, "-c", "kill -STOP $$; :"] });
    assert.equal(await hasBegun(files, child.pid), false);
    child.kill("SIGCONT");
    const stands = async () => (await readStat(files, child.pid))!.state === "T";
    assert.ok(await until(async () => (await readCommandLine(files, child.pid))?.[0] === shell && await stands()));
    assert.equal(await hasBegun(files, child.pid), true);
    child.kill("SIGCONT");
    await child.status;
  }
});

Deno.test("launch: at a terminal sudo is not started, and nothing else is refused", async () => {
  using root = temporary();
  for (const [pid, terminal] of [[7, 34816], [8, 0]]) {
    Deno.mkdirSync(root.file(`proc/${pid}`), { recursive: true });
    Deno.writeTextFileSync(root.file(`proc/${pid}/stat`), `${pid} (x) S 1 1 1 ${terminal} -1 0 1 0 1 0 1 2 0 0 20 0 1 0 5 6 7\n`);
  }
  const found = new FolderFiles(root.path);
  await assert.rejects(mustNotSuspend(found, 7, "/usr/bin/sudo"), /llmprof cannot start sudo at a terminal/);
  await mustNotSuspend(found, 7, "sudo-engine");
  await mustNotSuspend(found, 8, "sudo");
});

Deno.test("launch: a shell that ends early, or never stops, is an error", async () => {
  const instead = (program: string, ...args: string[]): SpawnChild => (options) =>
    spawnChild({ ...options, program, args, stdout: "null", stderr: "null" });
  const sleep = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
  await assert.rejects(launchStopped({ ...means, spawn: instead("false") }, { ...asSelf, argv: ["true"] }), {
    exitCode: 1,
    why: /ended with code 1/,
  });
  // A thousand looks at a process that runs; the fake answers at once.
  const running = new Proxy(files, { get: () => () => Promise.resolve(null) });
  await assert.rejects(
    launchStopped({ files: running, spawn: instead("sleep", "60"), sleep }, { ...asSelf, argv: ["true"] }),
    { exitCode: 1, why: /did not stop in time/ },
  );
});

Deno.test("launch: the loader's variables, and what a shell would leave out, go through the shell, and no others", () => {
  const through = { LD_PRELOAD: "x", DYLD_X: "y", LC_ALL: "C", PS1: "$ ", PS2: "> " };
  assert.deepEqual(splitEnvironment({ A: "1", "b.c": "2", LC_ALLY: "3", PS3: "4", ...through, "LD_%%": "z" }), {
    env: { A: "1", "b.c": "2", LC_ALLY: "3", PS3: "4" },
    exports: Object.entries(through).map(([name, value]) => `${name}=${value}`),
  });
});

Deno.test("invoker: what sudo says, and what is no number", () => {
  assert.deepEqual(sudoUser({ SUDO_UID: "1000", SUDO_GID: "100", SUDO_USER: "ann" }), { uid: 1000, gid: 100, groups: "init" });
  assert.deepEqual(sudoUser({ SUDO_UID: "77", SUDO_GID: "78", SUDO_USER: "#77" }), { uid: 77, gid: 78, groups: "clear" });
  assert.equal(sudoUser({ SUDO_UID: "1000; rm", SUDO_GID: "100" }), null);
  assert.equal(sudoUser({}), null);
});

Deno.test("invoker: under sudo the environment is that of the sudo process, and the limit of files that of who typed it", async () => {
  const root = await Deno.makeTempDir();
  const process = async (pid: number, ppid: number, comm: string, environ: Record<string, string>) => {
    await Deno.mkdir(`${root}/proc/${pid}`, { recursive: true });
    await Deno.writeTextFile(`${root}/proc/${pid}/stat`, `${pid} (${comm}) S ${ppid} 1 1 0 -1 0 1 0 1 0 1 2 0 0 20 0 1 0 5 6 7\n`);
    await Deno.writeTextFile(`${root}/proc/${pid}/environ`, Object.entries(environ).map(([name, value]) => `${name}=${value}\0`).join(""));
  };
  const underSudo = { SUDO_UID: "1000", SUDO_GID: "1000", SUDO_USER: "ann", PATH: "/sbin" };
  await process(1, 0, "init", {});
  await process(10, 1, "bash", { PATH: "/other" });
  await process(20, 10, "sudo", { PATH: "/home/ann/venv/bin", VIRTUAL_ENV: "/home/ann/venv" });
  await process(21, 20, "sudo", { PATH: "/home/ann/venv/bin", VIRTUAL_ENV: "/home/ann/venv" });
  await process(30, 21, "llmprof", underSudo);
  await process(40, 10, "llmprof", { PATH: "/bin" });
  await process(50, 10, "llmprof", underSudo);
  await process(60, 20, "llmprof", { ...underSudo, SUDO_UID: "0" });
  const limit = (soft: number, hard: number, ...pids: readonly number[]) =>
    Promise.all(pids.map((pid) => Deno.writeTextFile(`${root}/proc/${pid}/limits`, `Limit  Soft  Hard\nMax open files  ${soft}  ${hard}  files\n`)));
  await limit(1024, 524288, 10);
  await limit(256, 2 ** 30, 20, 21);
  await limit(524288, 524288, 30, 40);
  // Set by what has become llmprof.
  await limit(4096, 4096, 50);
  const openFiles = 1024;
  const folder = new FolderFiles(root);
  const ann = { uid: 1000, gid: 1000, groups: "init" };
  assert.deepEqual(await readInvoker(folder, 30), {
    user: ann,
    environment: { PATH: "/home/ann/venv/bin", VIRTUAL_ENV: "/home/ann/venv" },
    openFiles,
  });
  assert.deepEqual(await readInvoker(folder, 40), { user: null, environment: { PATH: "/bin" }, openFiles });
  assert.deepEqual(await readInvoker(folder, 50), { user: ann, environment: underSudo });
  assert.equal((await readInvoker(folder, 60)).user, null);
  // `sudo NAME=value llmprof`, and a shell that sudo has opened.
  await process(70, 20, "llmprof", { ...underSudo, CUDA_VISIBLE_DEVICES: "1", HOME: "/root" });
  const { environment } = await readInvoker(folder, 70);
  assert.deepEqual(environment, { PATH: "/home/ann/venv/bin", VIRTUAL_ENV: "/home/ann/venv", CUDA_VISIBLE_DEVICES: "1" });
  await process(80, 20, "bash", underSudo);
  await Deno.writeTextFile(`${root}/proc/80/cmdline`, "-bash\0");
  await process(81, 80, "llmprof", { ...underSudo, HF_HOME: "/data" });
  assert.deepEqual(await readInvoker(folder, 81), { user: null, environment: { ...underSudo, HF_HOME: "/data" } });
  await Deno.remove(root, { recursive: true });
});

const root = /^Uid:\s*\d+\s+0\s/m.test(await files.text("/proc/self/status") ?? "");
Deno.test({
  name: `launch: as another user, with that user's groups alone${root ? "" : " (skipped: needs root)"}`,
  ignore: !root,
  fn: async () => {
    const child = await launchStopped(means, {
      ...asSelf,
      user: { uid: 65534, gid: 65534, groups: "clear" },
      argv: ["sh", "-c", "id -u; id -G; grep CapEff /proc/self/status"],
    });
    child.kill("SIGCONT");
    const [out] = await Promise.all([new Response(child.stdout).text(), child.stderr!.cancel(), child.status]);
    assert.equal(out, "65534\n65534\nCapEff:\t0000000000000000\n");
  },
});
