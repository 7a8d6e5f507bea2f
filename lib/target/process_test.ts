import assert from "node:assert/strict";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { until } from "../../tests/harness/until.ts";
import { spawnChild } from "../machine/child.ts";
import { startGuard } from "../machine/guard.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { findCandidates, findInference, findTarget, listCandidates } from "./discover.ts";
import { ancestorsOf, hasEnded, parseStat, readCommandLine, readEnvironment, readProcesses, readStat, treeOf } from "./process.ts";

interface Fake {
  readonly pid: number;
  readonly ppid: number;
  readonly comm: string;
  readonly argv: readonly string[];
  readonly state?: string;
  readonly threads?: number;
}

function statLine({ pid, comm, state = "S", ppid, threads = 1 }: Omit<Fake, "argv">): string {
  return `${pid} (${comm}) ${state} ${ppid} 1 1 0 -1 4194304 153 0 7 0 1 2 0 0 20 0 ${threads} 0 272094 2580480 219\n`;
}

async function withProcesses(processes: readonly Fake[], check: (files: FolderFiles) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${root}/proc/sys`, { recursive: true });
    for (const process of processes) {
      await Deno.mkdir(`${root}/proc/${process.pid}`);
      await Deno.writeTextFile(`${root}/proc/${process.pid}/stat`, statLine(process));
      await Deno.writeTextFile(`${root}/proc/${process.pid}/cmdline`, process.argv.map((word) => `${word}\0`).join(""));
    }
    await check(new FolderFiles(root));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** llmprof is 30, below a sudo whose command line holds the pattern. */
const machine: readonly Fake[] = [
  { pid: 1, ppid: 0, comm: "init", argv: ["/sbin/init"] },
  { pid: 2, ppid: 0, comm: "kthreadd", argv: [] },
  { pid: 10, ppid: 1, comm: "python3", argv: ["python3", "serve.py", "--port", "80"] },
  { pid: 11, ppid: 10, comm: "python3", argv: ["python3", "serve.py", "--worker"] },
  { pid: 12, ppid: 1, comm: "python3", argv: ["python3", "other.py"] },
  { pid: 13, ppid: 1, comm: "python3", argv: ["python3", "serve.py"], state: "Z" },
  { pid: 20, ppid: 1, comm: "sudo", argv: ["sudo", "llmprof", "io", "--match", "serve"] },
  { pid: 30, ppid: 20, comm: "llmprof", argv: ["llmprof", "io", "--match", "serve"] },
  { pid: 31, ppid: 30, comm: "find", argv: ["find", "serve"] },
  { pid: 40, ppid: 1, comm: "ld-linux-x86-64", argv: ["/lib64/ld-linux-x86-64.so.2", "/opt/engine", "--port", "81"] },
];

Deno.test("process: a stat line whose name holds parentheses, blanks and a newline", () => {
  assert.deepEqual(parseStat(statLine({ pid: 7, ppid: 1, comm: "a) R (b\nc", state: "T" })), {
    pid: 7,
    comm: "a) R (b\nc",
    state: "T",
    ppid: 1,
    terminal: 0,
    cpuSeconds: 0.03,
    threads: 1,
    startTicks: 272094,
  });
  for (const text of ["", "7 (", "7 (x) S 1\n", ")("]) assert.equal(parseStat(text), null);
});

Deno.test("process: one whose main thread has ended goes on as long as another thread does", () =>
  withProcesses([{ pid: 15, ppid: 1, comm: "go", argv: [], state: "Z", threads: 2 }, ...machine], async (files) => {
    assert.deepEqual(await Promise.all([15, 13, 12, 99].map((pid) => hasEnded(files, pid))), [false, true, false, true]);
  }));

Deno.test("discover: one whose main thread has ended is a target as long as another thread goes on", () => {
  const argv = ["headless"], state = "Z";
  const some: readonly Fake[] = [{ pid: 15, ppid: 1, comm: "goes-on", argv, state, threads: 3 }, { pid: 16, ppid: 1, comm: "over", argv, state }];
  return withProcesses([...some, ...machine], async (files) => {
    for (const query of [{ by: "pid", pid: 15 }, { by: "comm", comm: "goes-on" }, { by: "match", pattern: /headless/ }] as const) {
      assert.equal((await findTarget(files, query, 30)).pid, 15);
    }
    for (const query of [{ by: "pid", pid: 16 }, { by: "comm", comm: "over" }] as const) {
      await assert.rejects(findTarget(files, query, 30), { name: "LlmprofError", exitCode: 2 });
    }
  });
});

Deno.test("process: tree and ancestors", () =>
  withProcesses(machine, async (files) => {
    const processes = await readProcesses(files);
    assert.equal(processes.size, machine.length);
    assert.deepEqual(treeOf(processes, 20), [20, 30, 31]);
    assert.deepEqual(treeOf(processes, 99), []);
    assert.deepEqual(ancestorsOf(processes, 31), [31, 30, 20, 1]);
  }));

Deno.test("process: parents in a circle end", () => {
  const stat = (pid: number, ppid: number) => [pid, parseStat(statLine({ pid, ppid, comm: "x" }))!] as const;
  const circle = new Map([stat(5, 6), stat(6, 5)]);
  assert.deepEqual(treeOf(circle, 5), [5, 6]);
  assert.deepEqual(ancestorsOf(circle, 5), [5, 6]);
});

Deno.test("discover: the command line, without llmprof, what is above it and what it started", () =>
  withProcesses(machine, async (files) => {
    const found = await findCandidates(files, { by: "match", pattern: /serve/g }, 30);
    assert.deepEqual(found.map(({ startTicks: _, ...rest }) => rest), [{ pid: 10, comm: "python3", argv: ["python3", "serve.py", "--port", "80"] }]);
    assert.deepEqual(await findTarget(files, { by: "match", pattern: /serve\.py --port/ }, 30), { ...found[0], pids: [10] });
  }));

Deno.test("discover: a process that has written a title in the place of its command line is found by that, and shown by it", () =>
  withProcesses([{ pid: 5, ppid: 1, comm: "VLLM::EngineCor", argv: ["VLLM::EngineCore", ...Array(40).fill("")] }], async (files) => {
    const { argv } = await findTarget(files, { by: "match", pattern: /^VLLM::EngineCore$/ }, 30);
    assert.deepEqual([argv, (await findTarget(files, { by: "pid", pid: 5 }, 30)).argv], [["VLLM::EngineCore"], ["VLLM::EngineCore"]]);
  }));

Deno.test("discover: helpers of llmprof, whose command lines hold names of libraries, are no targets, nor are those of another one", () => {
  const argv = ["/bin/sh", "-c", "script", "llmprof-guard", "", "*/libllama.*"];
  const helpers: readonly Fake[] = [
    { pid: 60, ppid: 30, comm: "llmprof:30", argv },
    { pid: 61, ppid: 60, comm: "watch-stopped", argv },
    { pid: 62, ppid: 31, comm: "sh", argv },
    { pid: 70, ppid: 1, comm: "llmprof:69", argv },
    { pid: 71, ppid: 70, comm: "sh", argv },
    // Its guard was killed.
    { pid: 72, ppid: 1, comm: "watch-stopped", argv },
  ];
  return withProcesses([...machine, ...helpers], async (files) => {
    assert.deepEqual(await findCandidates(files, { by: "match", pattern: /libllama/ }, 30), []);
  });
});

Deno.test("discover: of a real guard, and of who looks after stopped processes beside it, no llmprof takes any for its target", async () => {
  const files = new ReaderFiles();
  const guard = await startGuard(["*/a library of this test"]);
  const llmprof = spawnChild({ program: "sleep", args: ["60"] });
  try {
    await guard.armed(Deno.pid);
    assert.ok(await until(async () => treeOf(await readProcesses(files), guard.pid).length === 2));
    assert.deepEqual(await findCandidates(files, { by: "match", pattern: /a library of this test/ }, llmprof.pid), []);
  } finally {
    llmprof.kill("SIGKILL");
    await Promise.all([guard.close(), llmprof.status]);
  }
});

Deno.test("discover: who has mapped a model or an engine, without what it started", () =>
  withProcesses(machine, async (files) => {
    const mapping = (pid: number, path: string) =>
      Deno.writeTextFile(`${files.root}/proc/${pid}/maps`, `7f00-7f10 r--p 00000000 08:02 12    ${path}\n`);
    await Promise.all([mapping(10, "/m/a b.gguf"), mapping(11, "/m/a b.gguf"), mapping(12, "/lib/libggml-base.so.0"), mapping(30, "/m/x.gguf")]);
    await mapping(1, "/lib/libc.so.6");
    assert.deepEqual((await findInference(files, 30)).map(({ pid }) => pid), [10, 12]);
  }));

Deno.test("discover: several names are listed with exit code 2", () =>
  withProcesses(machine, async (files) => {
    await assert.rejects(findTarget(files, { by: "comm", comm: "python3" }, 30), (error: Error & { exitCode: number; next: string }) => {
      assert.equal(error.exitCode, 2);
      assert.match(error.message, /^2 processes match --comm python3\./);
      assert.equal(error.next, "Choose one:\n  --pid 10  python3 serve.py --port 80\n  --pid 12  python3 other.py");
      return true;
    });
  }));

Deno.test("discover: nothing, or a pid that is gone, is exit code 2", () =>
  withProcesses(machine, async (files) => {
    for (const query of [{ by: "comm", comm: "absent" }, { by: "pid", pid: 99 }, { by: "pid", pid: 13 }] as const) {
      await assert.rejects(findTarget(files, query, 30), { name: "LlmprofError", exitCode: 2 });
    }
    assert.equal((await findTarget(files, { by: "pid", pid: 11 }, 30)).argv[2], "--worker");
  }));

Deno.test("discover: what a loader was told to run has its name, too", () =>
  withProcesses(machine, async (files) => {
    const names = ["engine", "ld-linux-x86-64.so.2"];
    assert.deepEqual(await Promise.all(names.map(async (comm) => (await findTarget(files, { by: "comm", comm }, 30)).pid)), [40, 40]);
  }));

Deno.test("discover: a thread is none, and its process is named", () =>
  withProcesses([...machine, { pid: 14, ppid: 1, comm: "python3", argv: ["python3", "serve.py"] }], async (files) => {
    await Deno.writeTextFile(`${files.root}/proc/14/status`, "Name:\tpython3\nTgid:\t10\nPid:\t14\n");
    await assert.rejects(findTarget(files, { by: "pid", pid: 14 }, 30), {
      exitCode: 2,
      what: "14 is a thread of process 10.",
      next: "Try: --pid 10",
    });
  }));

Deno.test("discover: a name is compared as far as the kernel keeps it", () =>
  withProcesses([{ pid: 5, ppid: 1, comm: "a-very-long-nam", argv: ["x"] }], async (files) => {
    assert.equal((await findTarget(files, { by: "comm", comm: "a-very-long-name-indeed" }, 30)).pid, 5);
  }));

Deno.test("discover: a name that the kernel has cut inside a character is the one that it was cut from", () =>
  withProcesses([{ pid: 5, ppid: 1, comm: "", argv: ["x"] }], async (files) => {
    const comm = "fourteen-bytesä", [before, after] = statLine({ pid: 5, ppid: 1, comm: "\n" }).split("\n");
    const kept = new TextEncoder().encode(comm).subarray(0, 15);
    await Deno.writeFile(`${files.root}/proc/5/stat`, await new Blob([before!, kept, after!]).bytes());
    assert.equal((await findTarget(files, { by: "comm", comm }, 30)).pid, 5);
    await assert.rejects(findTarget(files, { by: "comm", comm: "fourteen-bytes" }, 30), { exitCode: 2 });
  }));

Deno.test("discover: a long or hostile command line is one short line", () => {
  const lines = listCandidates([{ pid: 1, comm: "x", argv: ["\u001b[2J\n", "y".repeat(200)] }, { pid: 2, comm: "kthreadd", argv: [] }]);
  assert.match(lines, /^ {2}--pid 1 {2}\ufffd\[2J\ufffd y{93,}…\n {2}--pid 2 {2}\[kthreadd\]$/);
  assert.match(listCandidates(Array.from({ length: 30 }, (_, pid) => ({ pid, comm: "x", argv: [] }))), /and 10 more$/);
});

Deno.test("process: a real one, with its command line and environment", async () => {
  const files = new ReaderFiles();
  const child = spawnChild({ program: "/bin/sleep", args: ["60"], env: { A: "1=2", B: "" } });
  for (let i = 0; i < 200 && (await readStat(files, child.pid))?.comm !== "sleep"; i++) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal((await readStat(files, child.pid))!.comm, "sleep");
  assert.deepEqual(await readCommandLine(files, child.pid), ["/bin/sleep", "60"]);
  assert.deepEqual(await readEnvironment(files, child.pid), { A: "1=2", B: "" });
  const processes = await readProcesses(files);
  assert.equal(processes.get(child.pid)!.ppid, Deno.pid);
  assert.ok(treeOf(processes, Deno.pid).includes(child.pid));
  child.kill("SIGKILL");
  await child.status;
  assert.equal(await readStat(files, child.pid), null);
  assert.equal(await readCommandLine(files, child.pid), null);
  assert.equal(await readEnvironment(files, child.pid), null);
});
