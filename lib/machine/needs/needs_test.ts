import assert from "node:assert/strict";
import { capable } from "../../../tests/harness/fake_machine.ts";
import { parseBpftrace } from "../bpftrace.ts";
import type { Capabilities } from "../capabilities.ts";
import type { Room, Surroundings } from "../surroundings.ts";
import { checks, preflight } from "./needs.ts";
import { programNeeds } from "./programs.ts";
import { installCommand, sudoLine } from "./shell.ts";

const typed = { argv: ["llmprof", "doctor"], variables: {} };
const good = capable(undefined, ["syscalls:sys_enter_kill"]);
const room = (folder: string, bytes = 2 ** 40, readOnly: string | null = null, kept = false): Room => ({ folder, bytes, readOnly, kept });
const roomy: Surroundings = {
  config: new Map(
    ["BPF_SYSCALL", "BPF_EVENTS", "PERF_EVENTS", "UPROBES", "UPROBE_EVENTS", "FTRACE_SYSCALLS"].map((name) => [`CONFIG_${name}`, "y"]),
  ),
  pressure: true,
  hiddenPressure: null,
  memoryLimit: null,
  availableMemory: 2 ** 33,
  cpuLimit: null,
  processLimit: null,
  allowedCpus: 8,
  lockedMemory: 8 << 20,
  openFiles: Infinity,
  perfLocked: true,
  room: [room("/home/me"), room("/tmp")],
  run: room("/run"),
};

const withoutRing = parseBpftrace("/b", "bpftrace v0.17.0", "bfd: yes\nuprobe_multi: yes\n", "whole");

/** What is not `ok` when this is changed: need, state, and the command or the advice. */
function lacking(change: Partial<Capabilities>, around: Partial<Surroundings> = {}): [string, string, string][] {
  return checks({ ...good, ...change }, typed, { ...roomy, ...around }).filter(({ state }) => state !== "ok")
    .map(({ need, state, fix, advice }) => [need, state, fix || advice]);
}

Deno.test("needs: nothing to say about a machine that can trace", () => {
  assert.deepEqual(preflight(good, typed), []);
  assert.deepEqual(lacking({}), []);
});

Deno.test("needs: what can be mended names the command, as root without sudo and otherwise with", () => {
  const user = { root: false, effectiveCaps: 0n, sysAdmin: false };
  assert.deepEqual(lacking(user), [["root", "missing", "sudo llmprof doctor"], ["CAP_SYS_ADMIN", "unknown", ""]]);
  assert.deepEqual(lacking({ tracefs: null, tracepoints: new Set() }), [
    ["tracefs", "missing", "mount -t tracefs tracefs /sys/kernel/tracing"],
    ["tracepoints of system calls", "unknown", ""],
  ]);
  assert.deepEqual(lacking({ ...user, tracefs: null })[2], ["tracefs", "missing", "sudo mount -t tracefs tracefs /sys/kernel/tracing"]);
  assert.deepEqual(lacking({ bpftrace: null, bpftracePath: null }), [
    ["bpftrace 0.16 or newer", "missing", "apt-get update && apt-get install bpftrace"],
  ]);
  assert.deepEqual(lacking({ btf: false, hiddenBtf: "/sys/kernel/btf" }), [["BTF", "missing", "umount /sys/kernel/btf"]]);
  const limit = (left: number) => ({ left, most: 2 ** 33, file: "/sys/fs/cgroup/a b/memory.max" });
  assert.deepEqual(lacking({}, { memoryLimit: limit(300 << 20) }), [
    ["memory for bpftrace", "warning", "echo 10422845440 | tee '/sys/fs/cgroup/a b/memory.max'"],
  ]);
  assert.deepEqual(lacking({}, { memoryLimit: limit(2 ** 30) }), []);
  // Rows of sums have room for each processor that there may be.
  const many = { possibleCpus: 256 }, enough = 2 ** 30 + 9 * (256 - 32) * 8 * 65_536;
  assert.deepEqual(lacking({ possibleCpus: 32 }, { memoryLimit: limit(2 ** 30) }), []);
  assert.deepEqual(lacking(many, { memoryLimit: limit(enough - 1) }).map(([need]) => need), ["memory for bpftrace"]);
  assert.deepEqual(lacking(many, { memoryLimit: limit(enough), availableMemory: enough }), []);
  const available = 300 << 20, ofMachine = "End what is not needed, or use less.";
  assert.deepEqual(lacking({}, { availableMemory: available }), [["memory for bpftrace", "warning", ofMachine]]);
  assert.deepEqual(lacking({}, { availableMemory: available, memoryLimit: limit(available + 1) }), [["memory for bpftrace", "warning", ofMachine]]);
  assert.match(lacking({}, { availableMemory: available, memoryLimit: limit(available - 1) })[0]![2], /^echo \d+ \| tee /);
  assert.deepEqual(lacking({}, { cpuLimit: { cpus: 0.5, file: "/sys/fs/cgroup/cpu.max" } }), [
    ["a processor beside the target", "warning", "echo max | tee /sys/fs/cgroup/cpu.max"],
  ]);
  assert.deepEqual(lacking({}, { processLimit: { left: 7, most: 32, file: "/sys/fs/cgroup/pids.max" } }), [
    ["processes for bpftrace", "warning", "echo 65 | tee /sys/fs/cgroup/pids.max"],
  ]);
  assert.deepEqual(lacking({}, { processLimit: { left: 60, most: 100, file: "/sys/fs/cgroup/pids.max" } }), []);
  assert.deepEqual(lacking({ cpus: 8 }, { openFiles: 575 }), [["open files", "warning", "prlimit --pid $$ --nofile=4096"]]);
  assert.deepEqual(lacking({ ...user, cpus: 8 }, { openFiles: 575 }).at(-1), ["open files", "warning", "sudo prlimit --pid $$ --nofile=4096"]);
  assert.deepEqual(lacking({ cpus: 8 }, { openFiles: 576 }), []);
  const few = checks({ ...good, cpus: 8 }, typed, { ...roomy, openFiles: 40 }).find(({ need }) => need === "open files")!;
  assert.match(few.consequence, /^bpftrace opens some for each probe .*: where fewer than 576 may be open,/);
  for (const [cpus, files] of [[448, 4096], [449, 8192], [512, 8192], [1024, 16384]] as const) {
    assert.deepEqual(lacking({ cpus }, { openFiles: 64 })[0], ["open files", "warning", `prlimit --pid $$ --nofile=${files}`]);
    assert.deepEqual(lacking({ cpus }, { openFiles: files }), [], "the command mends it");
  }
  assert.deepEqual(lacking({}, { allowedCpus: 1 }), [["a processor beside the target", "warning", "taskset -cp 0-7 $$"]]);
  assert.deepEqual(lacking({ cpus: 1 }, { allowedCpus: 1 }), []);
  assert.deepEqual(lacking({}, { room: [room("/full", 4096), room("/tmp")] }), [["room in /full", "warning", "cd /tmp"]]);
  assert.deepEqual(lacking({}, { room: [room("/media/cd", 2 ** 40, "/media/cd"), room("/tmp")] }), [["room in /media/cd", "warning", "cd /tmp"]]);
  assert.deepEqual(lacking({}, { room: [room("/dev/shm", 2 ** 40, null, true), room("/tmp")] }), [["room in /dev/shm", "warning", "cd /tmp"]]);
  const untold = { bpftrace: parseBpftrace("/b", "bpftrace v0.23.2", "bfd: yes\nringbuf: yes\nuprobe_multi: yes\n") };
  assert.deepEqual(lacking(untold, { run: room("/run", 2 ** 40, "/run") }), [
    ["probes at any instruction", "unknown", ""],
    ["room in /run", "missing", "mount -o remount,rw /run"],
  ]);
  assert.deepEqual(lacking(untold, { run: room("/run", 4096) }), [
    ["probes at any instruction", "unknown", ""],
    ["room in /run", "warning", "Delete what is not needed there."],
  ]);
  const hiding = { tracepoints: new Set(["sched:sched_switch"]), hidingTracepoints: ["/sys/kernel/tracing/events/syscalls"] };
  assert.deepEqual(lacking(hiding), [["tracepoints of system calls", "missing", "umount /sys/kernel/tracing/events/syscalls"]]);
  assert.deepEqual(lacking({}, { pressure: false, hiddenPressure: "/proc/pressure" }), [["pressure (PSI)", "warning", "umount /proc/pressure"]]);
  assert.equal(lacking({ governor: "powersave" })[0]![2], "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
});

Deno.test("needs: what no command mends says what does", () => {
  const old = parseBpftrace("/usr/bin/bpftrace", "bpftrace v0.14.0", "");
  const bound = good.effectiveCaps & ~(1n << 24n);
  const cases: [Partial<Capabilities>, Partial<Surroundings>, string, string, RegExp][] = [
    [{ userNamespaceIsInit: false }, {}, "root", "missing", /Run it on the host/],
    [{ lockdown: "confidentiality" }, {}, "a kernel not locked down", "missing", /lockdown=integrity/],
    [{ kernel: "5.4.0-150-generic" }, {}, "Linux 5.8 or newer", "missing", /newer kernel/],
    [{ kernel: "6.1.0-18-amd64" }, {}, "a kernel that counts the hits it skips", "warning", /newer kernel/],
    [{ tracepoints: new Set(["sched:sched_switch"]) }, {}, "tracepoints of system calls", "missing", /CONFIG_FTRACE_SYSCALLS/],
    [{ btf: false }, {}, "BTF", "missing", /CONFIG_DEBUG_INFO_BTF/],
    [{ btf: false, bpftrace: { ...good.bpftrace!, version: [0, 17, 0] } }, {}, "BTF", "warning", /CONFIG_DEBUG_INFO_BTF/],
    [{ sysAdmin: false }, {}, "CAP_SYS_ADMIN", "missing", /--privileged --pid host/],
    [{ effectiveCaps: good.effectiveCaps & ~(1n << 19n) }, {}, "CAP_SYS_PTRACE", "warning", /--cap-add SYS_PTRACE/],
    [{ pidNamespaceIsInit: false }, {}, "the machine's PID namespace", "missing", /--pid host/],
    [{ bpftrace: null, bpftracePath: "/a b" }, {}, "bpftrace 0.16 or newer", "missing", /^Try: '\/a b' --version$/],
    [
      { bpftrace: old },
      {},
      "bpftrace 0.16 or newer",
      "missing",
      /^apt-get update && apt-get install debootstrap .* && debootstrap .* && llmprof doctor --bpftrace \/usr/,
    ],
    [{ bpftrace: old, distribution: ["fedora"] }, {}, "bpftrace 0.16 or newer", "missing", /--bpftrace PATH/],
    [
      { bpftrace: { ...good.bpftrace!, fails: "No modules" }, distribution: ["fedora"] },
      {},
      "a bpftrace that works on this kernel",
      "missing",
      /--bpftrace PATH/,
    ],
    [{ bpftrace: withoutRing }, {}, "ring buffer", "warning", /debootstrap .* && llmprof doctor --bpftrace \/usr/],
    [{ bpftrace: withoutRing, distribution: ["fedora"] }, {}, "ring buffer", "warning", /--bpftrace PATH/],
    [{ seccomp: true }, {}, "no filter of system calls", "warning", /seccomp=unconfined/],
    [{ kernel: "6.12.0-55.el10" }, {}, "a kernel that lets filtered processes return", "warning", /^Linux 6\.12\.17, .*seccomp=unconfined\.$/],
    [{ realtime: true, kernel: "6.6.83-rt52" }, {}, "a real-time kernel whose ring buffer lets nobody sleep", "warning", /^Start Linux 6\.6\.84,/],
    [{ counters: new Set() }, {}, "hardware counters", "warning", /pmu=on/],
    [{}, { pressure: false }, "pressure (PSI)", "warning", /psi=1/],
    [{}, { config: new Map([["CONFIG_BPF_SYSCALL", "y"]]) }, "kernel configuration", "missing", /built with/],
    [{ effectiveCaps: bound }, { openFiles: 64 }, "open files", "warning", /^In a container: --ulimit nofile=4096\.$/],
    [{ kernel: "5.10.0", effectiveCaps: bound }, {}, "locked memory", "warning", /^In a container: --ulimit memlock=-1 or --cap-add SYS_RESOURCE\.$/],
  ];
  for (const [change, around, need, state, way] of cases) {
    // What every kernel before 6.7 lacks.
    const found = lacking(change, around).filter(([other]) => other === need || other !== "a kernel that counts the hits it skips");
    assert.equal(found.length, 1, need);
    assert.deepEqual(found[0]!.slice(0, 2), [need, state]);
    assert.match(found[0]![2], way);
  }
});

Deno.test("needs: bpftrace's own demands come with its version", () => {
  const newer = parseBpftrace("/b", "bpftrace v0.27.1", "bfd: yes\nuprobe_multi: yes\n", "whole");
  const noPerfmon = good.effectiveCaps & ~(1n << 38n);
  assert.deepEqual(lacking({ effectiveCaps: noPerfmon }), []);
  assert.deepEqual(lacking({ effectiveCaps: noPerfmon, bpftrace: newer }).map(([need]) => need), ["CAP_PERFMON"]);
  assert.equal(lacking({ btf: false, bpftrace: newer })[0]![1], "missing");
  const swapping = parseBpftrace("/b", "bpftrace v0.24.1", "");
  const said = checks({ ...good, pidNamespaceIsInit: false, bpftrace: swapping }, typed).find(({ need }) => need.includes("namespace"))!;
  assert.match(said.consequence, /0\.24\.1 takes process and thread ids for one another/);
  const right = parseBpftrace("/b", "bpftrace v0.24.2", "bfd: yes\nringbuf: yes\nuprobe_multi: yes\n", "whole");
  assert.deepEqual(lacking({ pidNamespaceIsInit: false, bpftrace: right }).map(([need, state]) => [need, state]), [
    ["the machine's PID namespace", "warning"],
  ]);
});

Deno.test("needs: a bpftrace without ring buffer locks memory, which root of a container may not", () => {
  const bound = { bpftrace: withoutRing, effectiveCaps: good.effectiveCaps & ~(1n << 24n | 1n << 14n) };
  const locked = (change: Partial<Capabilities>, around: Partial<Surroundings> = {}) =>
    lacking({ ...bound, ...change }, around).filter(([need]) => need === "locked memory").map(([, state]) => state);
  assert.deepEqual(locked({}), ["missing"]);
  assert.deepEqual(locked({ bpftrace: good.bpftrace }), []);
  assert.deepEqual(locked({ effectiveCaps: good.effectiveCaps & ~(1n << 24n) }), []);
  assert.deepEqual(locked({}, { lockedMemory: 1 << 30 }), []);
  assert.deepEqual(locked({}, { lockedMemory: null }), []);
  assert.deepEqual([locked({ cpus: 64 }, { lockedMemory: 129 << 20 }), locked({ cpus: 64 }, { lockedMemory: 127 << 20 })], [[], ["missing"]]);
  const large = { cpus: 64, pageBytes: 65536 };
  assert.deepEqual(locked(large, { lockedMemory: 129 << 20 }), [], "larger pages are fewer");
  assert.deepEqual(locked({}, { perfLocked: false }), []);
  assert.deepEqual(locked({ root: false, kernel: "5.10.0" }), []);
});

Deno.test("needs: what an ordinary user cannot know is unknown, not missing", () => {
  const user = { ...good, root: false, sysAdmin: false, tracepoints: new Set<string>(), bpftrace: parseBpftrace("/b", "bpftrace v0.20.2", "") };
  const states = new Map(checks(user, typed, roomy).map(({ need, state }) => [need, state]));
  for (const need of ["tracepoints of system calls", "probes at any instruction", "ring buffer", "one link for many probes"]) {
    assert.equal(states.get(need), "unknown", need);
  }
  const bound = checks({ ...user, noNewPrivileges: true }, typed).filter(({ state }) => state === "missing");
  assert.deepEqual(bound.map(({ fix }) => fix), [""], "sudo does not work there");
});

Deno.test("needs: a run is refused with the same words, exit code 3 and the next step", () => {
  const [error, ...more] = preflight({ ...good, tracefs: null, tracepoints: new Set() }, typed);
  assert.deepEqual([error!.exitCode, error!.what, error!.why, error!.next, more.length], [
    3,
    "Tracing needs tracefs: not mounted.",
    "The kernel describes its tracepoints there.",
    "Run: mount -t tracefs tracefs /sys/kernel/tracing",
    0,
  ]);
});

Deno.test("needs: programs that are not on PATH, and programs that are not there", () => {
  const gone = [{ program: "find", package: "findutils" }, { program: "dd", package: "coreutils" }];
  assert.equal(programNeeds(gone, ["debian"], "/opt/bin", true).fix, "export PATH=$PATH:/usr/bin:/bin");
  assert.equal(programNeeds(gone, ["alpine"], "/bin:/usr/bin", false).fix, "sudo apk add findutils coreutils");
  const old = programNeeds([{ program: "setpriv", package: "util-linux", since: "2.33" }], ["rhel"], "/bin", true);
  assert.deepEqual([old.found, old.fix, old.advice], ["without setpriv of util-linux 2.33 or newer", "", "A newer distribution has it."]);
  assert.equal(programNeeds([], ["debian"], "/bin", true).state, "ok");
});

Deno.test("needs: where the distribution's own bpftrace is too old, it is not the one to install", () => {
  const none = { bpftrace: null, bpftracePath: null };
  const isNewer = ([id, release]: readonly [string, number | null]) =>
    lacking({ ...none, distribution: [id, "debian"], release })[0]![2].includes("debootstrap");
  assert.deepEqual(([["ubuntu", 20.04], ["ubuntu", 22.04], ["debian", 11]] as const).map(isNewer), [true, true, true]);
  assert.deepEqual(([["ubuntu", 24.04], ["debian", 13], ["debian", null], ["linuxmint", 21]] as const).some(isNewer), false);
});

Deno.test("needs: the command line is repeated so that a shell reads it alike", () => {
  const argv = ["llmprof", "io", "--match", "it's (a)"], set = { LLMPROF_BPFTRACE: "/opt/b", LLMPROF_COMM: "a $b", LLMPROF_QUIET: "" };
  assert.equal(sudoLine({ argv, variables: {} }), `sudo llmprof io --match 'it'\\''s (a)'`);
  assert.equal(sudoLine({ argv: ["llmprof", "io"], variables: set }), "sudo LLMPROF_BPFTRACE=/opt/b LLMPROF_COMM='a $b' LLMPROF_QUIET='' llmprof io");
});

Deno.test("needs: the install command follows the distribution, or its parent", () => {
  assert.equal(installCommand(["fedora"], true, "bpftrace"), "dnf install bpftrace");
  assert.equal(installCommand(["mint-like", "ubuntu"], false, "bpftrace"), "sudo apt-get update && sudo apt-get install bpftrace");
  assert.equal(installCommand([], true, "bpftrace"), null);
});
