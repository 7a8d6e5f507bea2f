/**
 * PyTorch's exceptions, where several have the same library and each an unwinder of its own. Alone: whoever comes later than an llmprof, as that of another
 * test, with an unwinder that it does not know, is ended by an exception.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { top } from "../../harness/places.ts";
import { temporary } from "../../harness/temporary.ts";
import { debianPython } from "../../setup/torch.ts";
import { startLlmprof, wholeSummaryOf } from "../live_run.ts";

const needs = { torch: true, judge: true };
const throwing = join(top, "tests", "workloads", "torch_throws.py");

sampledTest(
  1,
  "PyTorch: an exception gets through in each of several that run the same, with unwinders of their own, one of them no target",
  needs,
  async ({ path }) => {
    using folder = temporary();
    const own = ["first", "second", "stranger"].map((name) => {
      Deno.mkdirSync(folder.file(name));
      Deno.copyFileSync("/lib/x86_64-linux-gnu/libgcc_s.so.1", folder.file(`${name}/libgcc_s.so.1`));
      return ["env", `LD_PRELOAD=${folder.file(`${name}/libgcc_s.so.1`)}`, debianPython, throwing, "1", "0", folder.file("stop")];
    });
    const both = ["sh", "-c", '"$1" "$2" "$3" "$4" "$5" "$6" "$7" & shift 7; "$@"; wait', "sh", ...own[0]!, ...own[1]!];
    await using target = start(both, { timeoutMilliseconds: 180_000 });
    await using stranger = start(own[2]!, { timeoutMilliseconds: 180_000 });
    await target.saw(/"torch"[^]*"torch"/);
    await stranger.saw('"torch"');
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: target.pid }, formats: [], flags: ["--learn", "1s"] });
    await llmprof.saw("Tracing process");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    Deno.writeTextFileSync(folder.file("stop"), "");
    const { stdout } = await target.succeeded().catch((error) => assert.fail(`${error.message}\n${llmprof.stderr()}`));
    assert.equal(stdout.match(/"caught"/g)?.length, 2, stdout);
    await stranger.succeeded();
    const { notes } = wholeSummaryOf("operators", await llmprof.finished());
    for (const stood of [/ the target stood /, / others .* stood /]) {
      assert.equal(
        notes.filter((text) => stood.test(text)).length,
        1,
        notes.join("\n"),
      );
    }
  },
  true,
);
