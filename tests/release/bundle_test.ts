import denoJson from "../../deno.json" with { type: "json" };
import { bpftraces } from "../harness/bpftraces.ts";
import { run } from "../harness/command.ts";
import { top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";

/**
 * What another way of loading the sources could break: help and errors, checks, replays, and runs on a real engine. `deno task test:bundle` runs all.
 */
const names = ["help", "usage_errors", "completions", "doctor", "replay", "unprivileged", "report"];
const files = [...names.map((name) => `tests/cli/${name}_test.ts`), "tests/kernel/counted_test.ts"];
const running = "LLMPROF_TEST_MAIN";

Deno.test({
  name: "bundle: its modules, run with the permissions of the executable, passes the tests of the command line and of what is counted",
  // They are what this test runs.
  ignore: Deno.env.has(running),
  async fn() {
    using folder = temporary();
    const bundle = folder.file("main.js");
    const deno = Deno.execPath();
    const words = denoJson.tasks.bundle.split(" ").slice(1).map((word) => word === "dist/modules" ? folder.path : word);
    const made = await run([deno, ...words], { cwd: top });
    if (made.code !== 0) throw new Error(made.stderr);
    const tests = await run([deno, "test", "-A", "--no-check", "--parallel", ...files], {
      cwd: top,
      // What differs between versions of bpftrace is no matter of how the sources are loaded. Files of other tests run beside these.
      env: { [running]: bundle, NO_COLOR: "1", LLMPROF_TEST_VERSION: bpftraces().at(-1)?.name ?? "", DENO_JOBS: "2" },
      timeoutMilliseconds: 1_200_000,
    });
    if (tests.code !== 0) throw new Error(tests.stdout.slice(-8000) + tests.stderr.slice(-2000));
    const passed = Number(/^ok \| (\d+) passed/m.exec(tests.stdout)?.[1]);
    if (!(passed > 20)) throw new Error(`Only ${passed} tests ran against ${bundle}.`);
  },
});
