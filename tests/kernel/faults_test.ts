/** Whatever fails, and whenever: what was seen is in the files, nobody is left behind, and the target goes on. */
import { mustRun } from "../harness/command.ts";
import type { Bpftrace } from "../harness/bpftraces.ts";
import { isFile } from "../harness/is_file.ts";
import { sampledTest } from "../harness/kernel.ts";
import { smallDisk } from "../harness/small_disk.ts";
import { aWhile, broughtBack, faultTests, formats, killedEarly, killedWithGuard, needs, nothing, stopped } from "./fault_tests.ts";
import { faultyRun } from "./faulty_run.ts";
import { outputPath } from "./live_run.ts";
import { hasProgram, row, until } from "./processes.ts";

faultTests([
  { name: "llmprof is killed while a program stands before its first instruction", by: "start", stage: "standing", fault: killedEarly },
  {
    name: "llmprof and its guard are killed at once while a program stands before its first instruction",
    by: "start",
    stage: "standing",
    fault: killedWithGuard,
  },
  {
    name: "the target is killed while it is counted",
    often: "when asked",
    by: "pid",
    stage: "counting",
    fault: ({ target }) => {
      Deno.kill(target(), "SIGKILL");
      return { code: 0, target: "ended" };
    },
  },
  {
    name: "the target crashes while it is counted",
    by: "start",
    stage: "counting",
    fault: ({ target }) => {
      Deno.kill(target(), "SIGSEGV");
      return { code: 0, target: "ended", says: [/^The program was ended by SIGSEGV\.$/m] };
    },
  },
  {
    name: "the target is killed while it stands at the gate",
    often: "when asked",
    by: "start",
    stage: "gate",
    fault: ({ target }) => {
      Deno.kill(target(), "SIGKILL");
      return { code: 0, target: "ended", says: [/^The program was ended by SIGKILL\.$/m] };
    },
  },
  {
    name: "Ctrl-C while capabilities are read",
    by: "start",
    stage: "reading",
    fault: ({ typed }) => (typed("SIGINT"), { ...nothing, target: "never began" }),
  },
  { name: "Ctrl-C before its bpftrace attaches", by: "pid", stage: "attaching", fault: ({ typed }) => (typed("SIGINT"), nothing) },
  {
    name: "Ctrl-C while a program stands before its first instruction",
    by: "start",
    stage: "standing",
    fault: ({ typed }) => (typed("SIGINT"), { ...nothing, target: "never began" }),
  },
  {
    name: "Ctrl-Z and fg while a program stands before its first instruction: it is told that it went on too early",
    often: "when asked",
    by: "start",
    stage: "standing",
    fault: broughtBack,
  },
  { name: "Ctrl-C while it counts", by: "pid", stage: "counting", formats, fault: (run) => stopped(run, "SIGINT") },
  {
    name: "the terminal is closed while it counts, and says so twice",
    by: "pid",
    stage: "counting",
    fault: async (run) => {
      const expected = stopped(run, "SIGHUP");
      await run.llmprof.saw("Reading what is left");
      run.typed("SIGHUP");
      return expected;
    },
  },
  {
    name: "Ctrl-C twice before its bpftrace attaches",
    by: "pid",
    stage: "attaching",
    fault: ({ typed }) => (typed("SIGINT"), typed("SIGTERM"), { code: [130, 143], files: [] }),
  },
  {
    name: "the terminal is closed, and nohup was said",
    often: "when asked",
    by: "pid",
    stage: "counting",
    under: ["nohup"],
    fault: async (run) => {
      run.typed("SIGHUP");
      await aWhile();
      return stopped(run, "SIGTERM");
    },
  },
  {
    name: "llmprof is suspended for a while and goes on",
    by: "pid",
    stage: "counting",
    fault: async (run) => {
      run.typed("SIGSTOP");
      await aWhile();
      run.typed("SIGCONT");
      return stopped(run, "SIGINT");
    },
  },
  {
    name: "nobody reads standard output any more: the outputs are whole",
    by: "pid",
    stage: "counting",
    formats,
    under: ["bash", "-c", 'exec "$@" > >(true)', "bash"],
    fault: (run) => stopped(run, "SIGINT"),
  },
  {
    name: "standard output was closed before: the outputs are whole",
    often: "when asked",
    by: "pid",
    stage: "counting",
    formats,
    under: ["sh", "-c", 'exec "$@" >&-', "sh"],
    fault: (run) => stopped(run, "SIGINT"),
  },
  {
    name: "bpftrace is stopped by somebody, and Ctrl-C comes",
    often: "when asked",
    by: "pid",
    stage: "counting",
    fault: (run) => {
      for (const pid of run.bpftraces()) Deno.kill(pid, "SIGSTOP");
      return stopped(run, "SIGINT");
    },
  },
  {
    name: "no process can be started for a while: the run goes on",
    by: "pid",
    stage: "counting",
    fault: async (run) => {
      const makeRoom = noRoomFor(run.llmprof.pid);
      for (let looks = 0; looks < 3; looks++) await aWhile();
      makeRoom();
      return stopped(run, "SIGINT");
    },
  },
  {
    name: "the target is stopped by its user, and continued",
    often: "when asked",
    by: "pid",
    stage: "counting",
    fault: async (run) => {
      Deno.kill(run.target(), "SIGSTOP");
      await aWhile();
      Deno.kill(run.target(), "SIGCONT");
      return stopped(run, "SIGINT");
    },
  },
  {
    name: "bpftrace is killed before it attaches",
    by: "start",
    stage: "attaching",
    fault: ({ bpftraces }) => {
      // Another may wait for a program that comes later.
      Deno.kill(bpftraces().find((pid) => row(pid)?.state === "T")!, "SIGKILL");
      return { code: 1, files: [], target: "never began", says: [/^bpftrace could not attach the program '\S+'\. /m] };
    },
  },
  {
    name: "an output is removed: it is said, and the others are whole",
    by: "pid",
    stage: "counting",
    formats,
    fault: async (run) => {
      Deno.removeSync(outputPath(run.folder, "json"));
      Deno.removeSync(outputPath(run.folder, "llmprof"), { recursive: true });
      await run.llmprof.saw(/^Cannot go on writing \S+run\.llmprof\. It was removed while it was written\.$/m);
      return {
        ...stopped(run, "SIGINT"),
        code: 1,
        files: ["pftrace", "jsonl", "pftrace.gz"],
        says: [/^Cannot go on writing \S+run\.json\. It was removed/m],
      };
    },
  },
  {
    name: "the only output is removed: the run ends",
    often: "when asked",
    by: "pid",
    stage: "counting",
    fault: ({ folder }) => {
      Deno.removeSync(outputPath(folder, "pftrace"));
      return { code: 1, files: [], says: [/^Cannot go on writing \S+run\.pftrace\. It was removed while it was written\.\nChoose another place/m] };
    },
  },
  {
    name: "the only output may grow no further (ulimit -f): what fits is kept and opens, and the run ends",
    by: "pid",
    stage: "counting",
    fault: async ({ llmprof, folder }) => {
      const path = outputPath(folder, "pftrace");
      await until("operators are in the trace", () => Deno.statSync(path).size > 50_021);
      const { size } = Deno.statSync(path);
      await mustRun(["prlimit", "--pid", String(llmprof.pid), `--fsize=${size + 10_007}`]);
      return {
        code: 1,
        partly: ["pftrace"],
        says: [/^Cannot go on writing \S+\. It is as long as a file may be there \(see ulimit -f\)\.\nWhat was written until then is kept\. Raise/m],
      };
    },
  },
  {
    name: "Ctrl-C twice, the second while its probes are let go: everything is there",
    by: "pid",
    stage: "counting",
    formats,
    fault: async (run) => {
      const expected = stopped(run, "SIGINT");
      await run.llmprof.saw("Wrote ");
      run.llmprof.kill("SIGINT");
      // Some bpftraces let go of them in a moment.
      return { ...expected, code: [130, 0] };
    },
  },
  {
    name: "Ctrl-C while its bpftrace attaches",
    by: "pid",
    stage: "attaching",
    fault: async ({ llmprof, bpftraces, typed }) => {
      for (const pid of bpftraces()) Deno.kill(pid, "SIGCONT");
      await until("a program is in the kernel", () => bpftraces().some(hasProgram));
      typed("SIGINT");
      await until("llmprof ends", () => row(llmprof.pid) === undefined);
      // It may have begun to count by then.
      return /^Wrote /m.test(llmprof.stderr()) ? { code: 0 } : nothing;
    },
  },
]);

for (const [index, full] of ["json", "pftrace.gz", "llmprof", "jsonl"].entries()) {
  const test = async ({ path: bpftrace }: Bpftrace) => {
    using disk = smallDisk(160);
    await using run = await faultyRun({ bpftrace, by: "pid", formats: ["pftrace", full], elsewhere: { [full]: outputPath(disk, full) } });
    await run.at("counting");
    await run.llmprof.saw(/^Cannot go on writing \S+\. The disk is full\.$/m);
    await aWhile();
    await run.end({ ...stopped(run, "SIGINT"), code: 1, partly: [full], says: [/is full\.\nWhat was written until then is kept\. Make room/] });
  };
  sampledTest(index, `a full disk under .${full}: what fits is kept and opens, and the other output is whole`, needs, test, index > 0);
}

sampledTest(1, "a full disk under the only output: what fits is kept and opens, and the run ends", needs, async ({ path: bpftrace }) => {
  using disk = smallDisk(160);
  await using run = await faultyRun({ bpftrace, by: "pid", elsewhere: { pftrace: outputPath(disk, "pftrace") } });
  await run.at("counting");
  await run.end({
    code: 1,
    partly: ["pftrace"],
    says: [/^Cannot go on writing \S+\. The disk is full\.\nWhat was written until then is kept\. Make room/m],
  });
});

/** Puts a process where it cannot start another; returns what takes it out again. */
function noRoomFor(pid: number): () => void {
  // Version 1 of control groups, or 2.
  const top = isFile("/sys/fs/cgroup/pids/cgroup.procs") ? "/sys/fs/cgroup/pids" : "/sys/fs/cgroup";
  const group = `${top}/llmprof-test-${pid}`;
  const put = (folder: string) => Deno.writeTextFileSync(`${folder}/cgroup.procs`, String(pid), { create: false });
  Deno.mkdirSync(group);
  Deno.writeTextFileSync(`${group}/pids.max`, "1", { create: false });
  put(group);
  return () => {
    put(top);
    Deno.removeSync(group);
  };
}
