import assert from "node:assert/strict";
import { start } from "../harness/command.ts";
import { matrixTest } from "../harness/kernel.ts";

matrixTest("a bpftrace is the process that was started, in its own folder, and hears its signals", {}, async ({ path }) => {
  const program = 'BEGIN { printf("pid %d\\n", pid); } interval:ms:200 { printf("beat\\n"); } END { printf("end\\n"); }';
  await using child = start([path, "-B", "line", "-e", program], { cwd: "/tmp" });
  await child.saw(`pid ${child.pid}\n`);
  assert.equal(Deno.readTextFileSync(`/proc/${child.pid}/comm`), "bpftrace\n");
  assert.equal(Deno.readLinkSync(`/proc/${child.pid}/cwd`).endsWith("/tmp"), true);
  child.kill("SIGINT");
  const { code, stdout } = await child.finished();
  assert.equal(code, 0);
  assert.match(stdout, /^end$/m);
});
