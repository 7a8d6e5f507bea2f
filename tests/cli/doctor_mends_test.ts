import assert from "node:assert/strict";
import { readMeans } from "../../lib/commands/means.ts";
import { kib } from "../../lib/machine/memory_use.ts";
import { newerBpftraceCommands } from "../../lib/machine/needs/newer_bpftrace.ts";
import { findProgram } from "../harness/find_program.ts";
import { kernelTest } from "../harness/kernel.ts";
import type { Needs } from "../harness/needs.ts";
import { bpftraceThat, controlGroup, fakeBpftrace, type Loss, mend, sayingBpftrace, sudoForAll } from "./doctor_mends.ts";

/** Mends itself: `doctor` names a command, the command is run where the need was taken away, and the need is there. */
function mends(name: string, loss: Loss, state: "missing" | "warning", command: string | RegExp, needs: Needs = {}): void {
  kernelTest(`doctor mends: ${name}`, { bpftrace: true, ...needs }, async () => {
    const { before, couldTrace, code, after } = await mend(loss);
    assert.deepEqual([before.state, couldTrace, code], state === "missing" ? [state, false, 3] : [state, true, 0]);
    if (typeof command === "string") assert.equal(before.fix, command);
    else assert.match(before.fix, command);
    assert.notEqual(before.consequence, "");
    assert.equal(after?.state, "ok", after?.found);
  });
}

function skipped(name: string, why: string): void {
  Deno.test({ name: `doctor mends: ${name} (skipped: ${why})`, ignore: true, fn: () => {} });
}

const hide = (place: string) => `mkdir "$T/empty"; mount --bind "$T/empty" ${place}`;
const nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups";
/** The system's folders as they are, and what is written to them gone at the end. */
const copyOfTheSystem = `mkdir "$T/copy"; mount -t tmpfs tmpfs "$T/copy"
  for folder in etc usr var; do
    mkdir "$T/copy/$folder" "$T/copy/$folder.work"
    mount -t overlay overlay -o lowerdir=/$folder,upperdir="$T/copy/$folder",workdir="$T/copy/$folder.work" /$folder
  done`;

mends(
  "tracefs that is not mounted",
  {
    need: "tracefs",
    take: "umount -l /sys/kernel/tracing; umount -l /sys/kernel/debug 2>/dev/null || true",
  },
  "missing",
  "mount -t tracefs tracefs /sys/kernel/tracing",
);

mends(
  "tracefs behind a mount of what it lies in",
  { need: "tracefs", take: "mount --bind /sys /sys" },
  "missing",
  "mount -t tracefs tracefs /sys/kernel/tracing",
);

mends("no right to trace", { need: "root", take: sudoForAll, under: nobody, anybody: true }, "missing", "sudo llmprof doctor --summary json");

mends(
  "programs that are not on PATH",
  { need: "the programs that llmprof starts", take: "", under: "env PATH=/nowhere" },
  "missing",
  "export PATH=$PATH:/usr/bin:/bin",
);

if (findProgram("apt-get") === null) skipped("no bpftrace", "needs apt-get");
else {
  mends(
    "no bpftrace",
    {
      need: "bpftrace 0.16 or newer",
      take: `${copyOfTheSystem}
      apt-get remove -y -qq bpftrace > /dev/null`,
    },
    "missing",
    "apt-get update && apt-get install bpftrace",
  );
}

mends("BTF behind a mount", { need: "BTF", take: hide("/sys/kernel/btf") }, "warning", "umount /sys/kernel/btf");

mends("pressure behind a mount", { need: "pressure (PSI)", take: hide("/proc/pressure") }, "warning", "umount /proc/pressure");

mends(
  "a folder without room",
  {
    need: /^room in /,
    take: `mkdir "$T/small"; mount -t tmpfs -o size=1m tmpfs "$T/small"; cd "$T/small"`,
  },
  "warning",
  "cd /tmp",
);

mends(
  "a /run that nothing can be written to",
  { need: "room in /run", take: "mount -t tmpfs -o ro tmpfs /run" },
  "missing",
  "mount -o remount,rw /run",
);

/** In a group of 2 GB: a file in memory, which nothing takes back. */
const holdMost = `mkdir "$T/held"; mount -t tmpfs tmpfs "$T/held"
  sh -c 'echo $$ > cgroup.procs; exec dd if=/dev/zero of="$T/held/all" bs=1M count=1500 status=none'`;

for (
  const [controller, need, limit, command] of [
    [
      "memory",
      "memory for bpftrace",
      { 1: `echo 2G > memory.limit_in_bytes; ${holdMost}`, 2: `echo 2G > memory.max; ${holdMost}` },
      /^echo \d+ \| tee /,
    ],
    ["cpu", "a processor beside the target", { 1: "echo 50000 > cpu.cfs_quota_us", 2: "echo '50000 100000' > cpu.max" }, /^echo (max|-1) \| tee /],
    ["pids", "processes for bpftrace", { 1: "echo 26 > pids.max", 2: "echo 26 > pids.max" }, /^echo \d+ \| tee /],
  ] as const
) {
  const group = controlGroup(controller);
  const name = `a control group with little ${controller}`;
  if (group === null) {
    skipped(name, `needs a group below which the ${controller} controller can be used`);
    continue;
  }
  // Where the machine has no more, it says that first.
  if (controller === "memory" && kib(Deno.readTextFileSync("/proc/meminfo"), "MemAvailable") < 3e9) {
    skipped(name, "needs 3 GB of memory that are available");
    continue;
  }
  mends(
    name,
    {
      need,
      take: `mkdir ${group.folder}; (cd ${group.folder}; ${limit[group.version]}); echo $$ > ${group.folder}/cgroup.procs`,
      after: `echo $$ > ${group.folder}/../cgroup.procs; rmdir ${group.folder}`,
    },
    "warning",
    command,
  );
}

for (
  const [name, loss, state] of [
    ["is too old", { need: "bpftrace 0.16 or newer", take: fakeBpftrace("0.14.0") }, "missing"],
    ["finds no places inside of functions", { need: "probes at any instruction", take: bpftraceThat("unset BCC_SYMFS") }, "warning"],
    ["has no ring buffer", { need: "ring buffer", take: sayingBpftrace("0.17") }, "warning"],
  ] as const
) {
  kernelTest(`doctor names what makes a newer bpftrace, where the one that is here ${name}`, { bpftrace: true }, async () => {
    const { before } = await mend({ ...loss, typed: false });
    assert.equal(before.state, state);
    const isDebian = findProgram("apt-get") !== null;
    const { machine } = await readMeans(undefined);
    assert.equal(before.fix, isDebian ? newerBpftraceCommands(true, "llmprof", machine).join(" && ") : "");
    assert.match(before.advice, isDebian ? /550 MB/ : /--bpftrace PATH/);
  });
}

mends(
  "few files that may be open",
  { need: "open files", take: "ulimit -n 64" },
  "warning",
  "prlimit --pid $$ --nofile=4096",
  { raisesLimits: true },
);

mends(
  "a tracepoint that only one probe needs",
  { need: /^(probe memory\/cache|tracepoints of the probes)$/, take: hide("/sys/kernel/tracing/events/filemap") },
  "warning",
  "umount /sys/kernel/tracing/events/filemap",
);

mends(
  "tracepoints of system calls behind a mount",
  { need: "tracepoints of system calls", take: hide("/sys/kernel/tracing/events/syscalls") },
  "missing",
  "umount /sys/kernel/tracing/events/syscalls",
);

if (navigator.hardwareConcurrency < 2) skipped("one processor of several", "needs two processors");
else mends("one processor of several", { need: "a processor beside the target", take: "taskset -cp 0 $$" }, "warning", /^taskset -cp 0-\d+ \$\$$/);

mends(
  "a clock frequency that follows the load",
  {
    need: "steady clock frequency",
    // The folder of a machine that has no such setting, with one.
    take: `cp -a /sys/devices/system/cpu "$T/cpu" 2> /dev/null || true; mkdir -p "$T/cpu/cpu0/cpufreq"
      echo powersave > "$T/cpu/cpu0/cpufreq/scaling_governor"; mount --bind "$T/cpu" /sys/devices/system/cpu`,
  },
  "warning",
  "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
);
