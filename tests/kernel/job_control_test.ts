/** A person's Ctrl-Z and `fg`: an interactive shell at a terminal of its own, which somebody types into. */
import assert from "node:assert/strict";
import { mustRun, start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { readSteadyLog, steadyCommand } from "../workloads/steady.ts";
import { needs } from "./fault_tests.ts";
import { assertSame, callsIn } from "./faulty_run.ts";
import { outputPath } from "./live_run.ts";
import { processTable, until } from "./processes.ts";
import { decodesIn } from "./trace_decodes.ts";

const someCalls = 100;

for (const [index, by] of (["start", "pid"] as const).entries()) {
  sampledTest(
    index,
    `Ctrl-Z and fg at a terminal, of a target ${by === "start" ? "that llmprof started" : "that runs"}: every call is in the trace`,
    needs,
    async ({ path }) => {
      using folder = temporary();
      const [typed, log, stopFile] = [folder.file("typed"), folder.file("log"), folder.file("stop")];
      const command = steadyCommand({ log, stopFile });
      await mustRun(["mkfifo", typed]);
      const shell = ["script", "--quiet", "--return", "--command", "bash --norc --noediting -i", "/dev/null"];
      await using terminal = start(["sh", "-c", 'exec "$@" < "$0"', typed, ...shell], { cwd: folder.path });
      using keys = await Deno.open(typed, { write: true });
      const type = (text: string) => keys.write(new TextEncoder().encode(text));
      await using other = by === "pid" ? start(command) : null;
      const calling = async () => {
        const before = callsIn(log);
        await until("the target calls", () => callsIn(log) > before + someCalls);
      };
      if (other) await calling();
      const target = other ? ["--pid", `${other.pid}`] : ["--", ...command];
      const words = [...llmprof, "coldstart", "--bpftrace", path, "-o", outputPath(folder, "jsonl"), ...target];
      Deno.writeTextFileSync(folder.file("run"), `exec ${words.map((word) => `'${word}'`).join(" ")}\n`);
      await type("sh run\n");
      await terminal.saw("Tracing process");
      await calling();
      const counting = other ? readSteadyLog(log).calls.at(-1)!.end : 0n;
      // What is at the terminal that `script` has made: its child is the shell.
      const at = processTable().find(({ parent }) => parent === terminal.pid)!.foreground;
      const states = () => processTable().filter(({ group }) => group === at).map(({ state }) => state);
      assert.ok(!states().includes("T"));
      await type("\x1a");
      await terminal.saw("Stopped");
      await until("whoever is at the terminal stands", () => states().every((state) => state === "T"));
      if (other) await calling();
      await type("fg\n");
      await until("they go on", () => !states().includes("T"));
      await calling();
      Deno.writeTextFileSync(stopFile, "");
      // The shell reads it when llmprof has ended.
      await type("exit $?\n");
      const { code, stdout } = await terminal.finished();
      assert.equal(code, 0, stdout);
      const { calls, done } = readSteadyLog(log);
      assert.equal(calls.length, done, "the target did all its work");
      assertSame(await decodesIn(outputPath(folder, "jsonl")), calls.filter(({ start }) => start > counting), stdout);
    },
  );
}
