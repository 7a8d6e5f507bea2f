import assert from "node:assert/strict";
import { join } from "node:path";
import { newerBpftraceCommands } from "../../lib/machine/needs/newer_bpftrace.ts";
import { mustRun } from "../harness/command.ts";
import { kernelTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { rootsFolder, top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";

const debian = { distribution: ["debian"], release: 12 }, jammy = { distribution: ["ubuntu", "debian"], release: 22.04 };

Deno.test("a newer bpftrace: the README tells people to type what doctor does, and what first on an Ubuntu that does not know Debian's keys", () => {
  const [, text] = /### A newer bpftrace\n([^]*?)\n## /.exec(Deno.readTextFileSync(join(top, "README.md")))!;
  const [lines, first] = [...text!.matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block!.trimEnd().split("\n"));
  assert.deepEqual(lines, newerBpftraceCommands(false, "llmprof", debian));
  assert.deepEqual([...first!, ...lines!.slice(2)], newerBpftraceCommands(false, "llmprof", jammy));
});

Deno.test("a newer bpftrace: it is the root that the tests make", () => {
  const made = Deno.readTextFileSync(join(top, "tests", "setup", "root.ts"));
  const [, flags] = /debootstrap (--variant=\S+ --include=\S+) trixie /.exec(newerBpftraceCommands(true, "llmprof", debian).join("\n"))!;
  for (const flag of flags!.split(" ")) assert.ok(made.includes(`"${flag}"`), flag);
});

kernelTest("a newer bpftrace: typed as one line, it runs in that root as if it were installed here", { bpftrace: true, trixie: true }, async () => {
  using folder = temporary();
  Deno.mkdirSync(folder.file("bin"));
  const program = (name: string, line: string) => {
    Deno.writeTextFileSync(folder.file(`bin/${name}`), `#!/bin/sh\n${line}\n`);
    Deno.chmodSync(folder.file(`bin/${name}`), 0o755);
  };
  // What is fetched is here already.
  program("apt-get", "");
  program("debootstrap", `mkdir "$4" && mount --bind "${join(rootsFolder, "trixie")}" "$4"`);
  program("llmprof", `exec ${llmprof.map((word) => `'${word}'`).join(" ")} "$@"`);
  // What is written to the system is gone at the end.
  const mounts = `mkdir layers && mount -t tmpfs tmpfs layers && mkdir layers/1 layers/2 layers/3 layers/4 &&
    mount -t overlay -o lowerdir=/opt,upperdir=layers/1,workdir=layers/2 overlay /opt &&
    mount -t overlay -o lowerdir=/usr/local/bin,upperdir=layers/3,workdir=layers/4 overlay /usr/local/bin`;
  const attach = `bpftrace-debian -q -e 'tracepoint:syscalls:sys_enter_epoll_wait { printf("attached %d\\n", pid); exit(); }'`;
  const { stdout } = await mustRun([
    "unshare",
    "--mount",
    "/bin/sh",
    "-c",
    `${mounts} && ${newerBpftraceCommands(true, "llmprof", debian).join(" && ")} && ${attach}`,
  ], {
    cwd: folder.path,
    env: { PATH: `${folder.file("bin")}:/usr/local/bin:${Deno.env.get("PATH")}` },
  });
  assert.match(stdout, /^ +bpftrace 0\.16 or newer +ok +v0\.2\d\S* at \/usr\/local\/bin\/bpftrace-debian$/m);
  assert.match(stdout, /^ +probes at any instruction +ok /m);
  assert.match(stdout, /^This machine can trace\.$/m);
  assert.match(stdout, /^attached \d+$/m);
});
