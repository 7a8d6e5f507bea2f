import assert from "node:assert/strict";
import { join } from "node:path";
import { containerFlags } from "../../lib/machine/needs/shell.ts";
import { doctorSummarySchema } from "../../mod.ts";
import { run } from "../harness/command.ts";
import { kernelTest } from "../harness/kernel.ts";
import { llmprofForAnybody } from "../harness/llmprof.ts";
import { rootsFolder } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";

/** What doctor says in a container of Debian 13 that is started with these flags. */
async function doctorIn(...flags: readonly string[]) {
  using folder = temporary();
  const words = await llmprofForAnybody(folder);
  // A runtime that may not raise limits keeps to small ones.
  const limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];
  const place = ["-v", `${folder.path}:${folder.path}`, "-w", folder.path, "--rootfs", `${join(rootsFolder, "trixie")}:O`];
  const podman = ["podman", "--runtime", "runc", "run", "--rm", "--network", "none", ...limits, ...flags, ...place];
  const { stdout, stderr } = await run([...podman, ...words, "doctor", "--summary", "json"], { timeoutMilliseconds: 60_000 });
  assert.notEqual(stdout, "", stderr);
  return doctorSummarySchema.parse(JSON.parse(stdout)).result;
}

kernelTest(
  "doctor: a container that is started as it advises can trace, and one that is not is told how",
  { podman: true, trixie: true },
  async () => {
    const plain = await doctorIn();
    assert.equal(plain.canTrace, false);
    assert.ok(plain.checks.find(({ need }) => need === "CAP_SYS_ADMIN")!.advice.includes(containerFlags));
    const advised = await doctorIn(...containerFlags.split(" "));
    assert.deepEqual(advised.checks.filter(({ state }) => state === "missing"), []);
  },
);
