import { start } from "../../tests/harness/command.ts";
import { top } from "../../tests/harness/places.ts";
import { row, until } from "../../tests/kernel/processes.ts";

Deno.test("suspension: a Ctrl-Z while a child is started stops its starter, and both go on", async () => {
  const script = `${top}/tests/workloads/reads_often.ts`;
  // A process group of its own beside its parent's, as a shell's jobs have: the kernel suspends no other.
  const jobs = 'set -m; "$@" & echo "job $!"; exec sleep 100';
  await using shell = start(["setsid", "bash", "-c", jobs, "bash", Deno.execPath(), "run", "-A", "--quiet", script], {
    timeoutMilliseconds: 120_000,
  });
  await shell.saw("reads");
  const job = Number(/job (\d+)/.exec(shell.stdout())![1]);
  try {
    // A seventh of the time a child shares its starter's memory.
    for (let times = 0; times < 61; times++) {
      Deno.kill(-job, "SIGTSTP");
      await until("it is suspended", () => row(job)!.state === "T");
      Deno.kill(-job, "SIGCONT");
      await until("it goes on", () => row(job)!.state !== "T");
    }
  } finally {
    Deno.kill(-job, "SIGKILL");
  }
});
