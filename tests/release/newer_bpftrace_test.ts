import assert from "node:assert/strict";
import { join } from "node:path";
import { mustRun, run } from "../harness/command.ts";
import { kernelTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { rootsFolder, top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";

/** What the README tells people to type where bpftrace is too old. */
const lines = /### A newer bpftrace\n[^]*?```sh\n([^]*?)```/.exec(Deno.readTextFileSync(join(top, "README.md")))![1]!;
const root = join(rootsFolder, "trixie");

Deno.test("a newer bpftrace: the README makes the root that the tests make", () => {
  const made = Deno.readTextFileSync(join(top, "tests", "setup", "root.ts"));
  const [, flags] = /debootstrap (--variant=\S+ --include=\S+) trixie /.exec(lines)!;
  for (const flag of flags!.split(" ")) assert.ok(made.includes(`"${flag}"`), flag);
});

kernelTest("a newer bpftrace: the README's program runs it in that root as if it were installed here", { bpftrace: true, trixie: true }, async () => {
  using folder = temporary();
  const program = folder.file("bpftrace-debian");
  const text = /<<'END'\n([^]*?)END\n/.exec(lines)![1]!;
  // The same program, over the root that is here.
  Deno.writeTextFileSync(program, text.replaceAll("/opt/bpftrace", root));
  Deno.chmodSync(program, 0o755);
  assert.match((await mustRun([program, "--version"])).stdout, /^bpftrace v0\.2\d/);
  const attached = await mustRun([program, "-q", "-e", 'tracepoint:syscalls:sys_enter_epoll_wait { printf("%d\\n", pid); exit(); }']);
  assert.match(attached.stdout, /^\d+\n/m);
  const doctor = await run([...llmprof, "doctor", "--bpftrace", program], { cwd: folder.path });
  assert.match(doctor.stdout, /This machine can trace\.\n$/);
  assert.match(doctor.stdout, /^ +probes at any instruction +ok /m);
  // Nothing of it is mounted.
  assert.ok(!Deno.readTextFileSync("/proc/self/mounts").includes(root));
});
