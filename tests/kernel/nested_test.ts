/** A disk answers in interrupts, and the program that sees it runs on top of whatever program was running: no record is mixed with another's. */
import assert from "node:assert/strict";
import { mustRun } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

/** Primes: small reads of what is in memory, by two processes, and reads past the cache. */
const SMALL = 60_013, DIRECT = 1009, BLOCK = 65_536;

sampledTest(1, "io: answers of a disk that come while other records are put together leave them whole", {}, async ({ path }) => {
  using folder = temporary();
  const [warm, cold] = [folder.file("warm"), folder.file("cold")];
  await mustRun(["dd", "if=/dev/zero", `of=${warm}`, "bs=512", `count=${SMALL}`, "status=none"]);
  await mustRun(["dd", "if=/dev/urandom", `of=${cold}`, `bs=${BLOCK}`, `count=${DIRECT}`, "conv=fsync", "status=none"]);
  const small = `dd if=${warm} of=/dev/null bs=512 status=none`, direct = `dd if=${cold} of=/dev/null bs=${BLOCK} iflag=direct status=none`;
  const target = { argv: ["sh", "-c", `${small} & ${small} & ${direct} & ${direct} & wait`] };
  await using llmprof = startLlmprof("io", { bpftrace: path, folder, target, formats: [], flags: ["--no-output"] });
  const { result, events } = summaryOf("io", await llmprof.finished());
  assert.deepEqual([events.undecodable, events.received], [0, events.emitted - events.skipped!]);
  const reads = (name: string) => result.files.find(({ file }) => file === name)!;
  // What finds the end is no read.
  assert.deepEqual([reads("warm").reads, reads("warm").readBytes], [2 * SMALL, 2 * SMALL * 512]);
  assert.deepEqual([reads("cold").reads, reads("cold").readBytes], [2 * DIRECT, 2 * DIRECT * BLOCK]);
  const strange = result.devices.filter(({ name, bytes, service }) => name === null || bytes > 2 ** 40 || service.maxNs > 60e9);
  assert.deepEqual(strange, []);
});
