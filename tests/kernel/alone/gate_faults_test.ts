/**
 * What fails while the target stands at the gate. Whoever cleans up looks for processes that stand still and have mapped the library: one that another
 * llmprof has just stopped, and had not started, looks the same. So nothing else may be traced meanwhile.
 */
import { faultTests, killedEarly } from "../fault_tests.ts";

faultTests([
  { name: "llmprof is killed while a program that it started stands at the gate", by: "start", stage: "gate", fault: killedEarly },
  {
    name: "the gate's bpftrace is killed while the target stands at the gate",
    by: "start",
    stage: "gate",
    fault: ({ bpftraces }) => {
      for (const pid of bpftraces()) Deno.kill(pid, "SIGKILL");
      return { code: 1 };
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
