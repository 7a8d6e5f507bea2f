import assert from "node:assert/strict";
import { findProgram } from "../harness/find_program.ts";
import { kernelTest } from "../harness/kernel.ts";
import { controlGroup, fakeBpftrace, type Loss, mend } from "./doctor_mends.ts";

/** Mends itself: `doctor` names a command, the command is run where the need was taken away, and the need is there. */
function mends(name: string, loss: Loss, state: "missing" | "warning", command: string | RegExp): void {
  kernelTest(`doctor mends: ${name}`, { bpftrace: true }, async () => {
    const { before, couldTrace, code, after } = await mend(loss);
    assert.deepEqual([before.state, couldTrace, code], state === "missing" ? [state, false, 3] : [state, true, 0]);
    if (typeof command === "string") assert.equal(before.fix, command);
    else assert.match(before.fix, command);
    assert.notEqual(before.consequence, "");
    assert.equal(after?.state, "ok", after?.found);
  });
}

/** Says what is lost and, in words, what helps: no command of this shell could. */
function advises(name: string, loss: Loss, state: "missing" | "warning", advice: RegExp): void {
  kernelTest(`doctor advises: ${name}`, { bpftrace: true }, async () => {
    const { before, couldTrace, code } = await mend(loss);
    assert.deepEqual([before.state, before.fix, couldTrace, code], [state, "", state === "warning", state === "warning" ? 0 : 3]);
    assert.match(before.advice, advice);
  });
}

function skipped(name: string, why: string): void {
  Deno.test({ name: `doctor mends: ${name} (skipped: ${why})`, ignore: true, fn: () => {} });
}

const hide = (place: string) => `mkdir "$T/empty"; mount --bind "$T/empty" ${place}`;
/** Any user may become root by `sudo` in this namespace, as an administrator does on a machine. */
const sudoForAll = `printf 'Defaults secure_path="%s"\\nALL ALL=(ALL) NOPASSWD: ALL\\n' "$PATH" > "$T/sudoers"; chmod 440 "$T/sudoers"
  mount --bind "$T/sudoers" /etc/sudoers`;
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
    take: "umount -l /sys/kernel/tracing; umount -l /sys/kernel/debug/tracing 2>/dev/null || true",
  },
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
    "apt-get install bpftrace",
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

for (
  const [controller, need, limit, command] of [
    ["memory", "memory for bpftrace", { 1: "echo 700M > memory.limit_in_bytes", 2: "echo 700M > memory.max" }, /^echo 1073741824 \| tee /],
    ["cpu", "a processor beside the target", { 1: "echo 50000 > cpu.cfs_quota_us", 2: "echo '50000 100000' > cpu.max" }, /^echo (max|-1) \| tee /],
  ] as const
) {
  const group = controlGroup(controller);
  const name = `a control group with little ${controller}`;
  if (group === null) {
    skipped(name, `needs a group below which the ${controller} controller can be used`);
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

advises(
  "a bpftrace that is too old",
  { need: "bpftrace 0.16 or newer", take: fakeBpftrace("0.14.0") },
  "missing",
  /A newer bpftrace.*--bpftrace PATH/,
);

advises(
  "a tracepoint that only one probe needs",
  { need: "probe memory/cache", take: hide("/sys/kernel/tracing/events/filemap") },
  "warning",
  /^$/,
);

advises(
  "PIDs of a container's own",
  {
    need: "the machine's PID namespace",
    take: "",
    under: "unshare --pid --fork --mount-proc",
  },
  "missing",
  /--pid host/,
);

advises("no CAP_SYS_ADMIN", { need: "CAP_SYS_ADMIN", take: "", under: "setpriv --bounding-set=-sys_admin" }, "missing", /--cap-add SYS_ADMIN/);

advises("no CAP_SYS_PTRACE", { need: "CAP_SYS_PTRACE", take: "", under: "setpriv --bounding-set=-sys_ptrace" }, "warning", /--cap-add SYS_PTRACE/);

advises(
  "no way to become root",
  {
    need: "root",
    take: sudoForAll,
    under: `setpriv --no-new-privs --reuid 65534 --regid 65534 --clear-groups`,
    anybody: true,
  },
  "missing",
  /as root in a shell/,
);
