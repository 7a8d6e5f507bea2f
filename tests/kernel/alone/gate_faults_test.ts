/**
 * What fails while the target stands at the gate. Whoever cleans up looks for processes that stand still and have mapped the library: one that another
 * llmprof has just stopped, and had not started, looks the same. So nothing else may be traced meanwhile.
 */
import { aWhile, continuedBy, faultTests, guardOf, killedEarly, killedWithGuard, stopped } from "../fault_tests.ts";
import { row, until } from "../processes.ts";

faultTests([
  { name: "llmprof is killed while a program that it started stands at the gate", by: "start", stage: "gate", fault: killedEarly },
  {
    name: "llmprof and its guard are killed at once while a program that it started stands at the gate",
    often: "every bpftrace",
    by: "start",
    stage: "gate",
    fault: killedWithGuard,
  },
  {
    name: "llmprof and its guard are killed at once while the process that it waited for stands at the gate",
    often: "every bpftrace",
    by: "wait",
    stage: "gate",
    fault: killedWithGuard,
  },
  {
    name: "the gate's bpftrace is killed while the target stands at the gate",
    by: "start",
    stage: "gate",
    fault: ({ bpftraces }) => {
      for (const pid of bpftraces()) Deno.kill(pid, "SIGKILL");
      return {
        code: 1,
        says: [/^bpftrace (ended while it traced \('\w+'\)|could not attach the program '\w+')\. Somebody killed it, or the kernel did/m],
      };
    },
  },
  {
    name: "the guard is killed while the target stands at the gate: the run goes on without it",
    by: "start",
    stage: "gate",
    fault: async (run) => {
      Deno.kill(guardOf(run), "SIGKILL");
      await run.at("counting");
      return { ...stopped(run, "SIGINT"), target: "ended" };
    },
  },
  {
    name: "llmprof is suspended while the process that it waited for stands at the gate: it goes on at once, and that is told",
    by: "wait",
    stage: "gate",
    fault: async (run) => {
      run.llmprof.kill("SIGSTOP");
      await until("the target goes on", () => row(run.target())?.state !== "T", 2000);
      await aWhile();
      run.llmprof.kill("SIGCONT");
      await run.at("counting");
      return { ...stopped(run, "SIGINT"), tells: [continuedBy("process \\d+")] };
    },
  },
  {
    name: "llmprof is killed while the process that it waited for stands at the gate",
    often: "when asked",
    by: "wait",
    stage: "gate",
    fault: killedEarly,
  },
]);
