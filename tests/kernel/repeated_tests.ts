import { join } from "node:path";
import type { Bpftrace } from "../harness/bpftraces.ts";
import { run } from "../harness/command.ts";
import { top } from "../harness/places.ts";

/** A test, and in how many of the runs it passed. */
export interface Repeated {
  readonly name: string;
  passed: number;
  /** Of the runs in which it did not, what was said. */
  readonly failures: string[];
}

/** `ok 3 - its name`, `not ok 3 - its name`, `ok 3 - its name # SKIP`. */
const TOLD = /^(not )?ok \d+ - (.*?)( # SKIP)?$/gm;

/** Runs those tests of a file whose names match, so many times with that bpftrace, each time in a process of its own. One that is skipped does not pass. */
export async function repeatedTests(file: string, names: RegExp, bpftrace: Bpftrace, runs: number): Promise<readonly Repeated[]> {
  const argv = [Deno.execPath(), "test", "-A", "--quiet", "--reporter=tap", "--filter", String(names), join(top, "tests/kernel", file)];
  const env = { NO_COLOR: "1", LLMPROF_TEST_ALL: "1", LLMPROF_TEST_VERSION: bpftrace.name };
  const tests = new Map<string, Repeated>();
  for (let time = 1; time <= runs; time++) {
    const { stdout, stderr } = await run(argv, { cwd: top, env, timeoutMilliseconds: 1_200_000 });
    const told = [...stdout.matchAll(TOLD)];
    if (told.length === 0) throw new Error(`No test of ${file} came to its end:\n${stdout}${stderr}`);
    for (const [, failed, name, skipped] of told) {
      const test = tests.get(name!) ?? { name: name!, passed: 0, failures: [] };
      tests.set(name!, test);
      if (failed) test.failures.push(`${time}/${runs}: ${stdout}`);
      else if (!skipped) test.passed++;
    }
  }
  return [...tests.values()];
}
