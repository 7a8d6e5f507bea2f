/** What no command of this shell could mend: `doctor` says what is lost and, in words, what helps. */
import assert from "node:assert/strict";
import { kernelTest } from "../harness/kernel.ts";
import { type Loss, mend, sayingBpftrace, sudoForAll } from "./doctor_mends.ts";

function advises(name: string, loss: Loss, state: "missing" | "warning", advice: RegExp): void {
  kernelTest(`doctor advises: ${name}`, { bpftrace: true }, async () => {
    const { before, couldTrace, code } = await mend(loss);
    assert.deepEqual([before.state, before.fix, couldTrace, code], [state, "", state === "warning", state === "warning" ? 0 : 3]);
    assert.match(before.advice, advice);
    assert.notEqual(before.consequence, "");
  });
}

advises(
  "a setpriv that knows no --pdeathsig",
  {
    need: "the programs that llmprof starts",
    take: `mkdir "$T/old"; cp "$(command -v setpriv)" "$T/old/real"
      printf '#!/bin/sh\\ncase "$*" in *--pdeathsig*) exit 1 ;; esac\\nexec "%s" "$@"\\n' "$T/old/real" > "$T/old/setpriv"
      chmod 755 "$T/old/setpriv"; mount --bind "$T/old/setpriv" "$(realpath "$(command -v setpriv)")"`,
  },
  "missing",
  /newer distribution/,
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

/** A file with this text in the place of one of the kernel's. */
const instead = (text: string, place: string) => `echo "${text}" > "$T/instead"; mount --bind "$T/instead" ${place}`;
const without = (capability: string) => `setpriv --bounding-set=-${capability}`;
/** Asks for every system call, and allows it. */
const filtered = `cat > "$T/filtered" <<'END'
import ctypes, os, sys
class Filter(ctypes.Structure): _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]
allow = ctypes.c_char_p((6).to_bytes(4, sys.byteorder) + (0x7fff0000).to_bytes(4, sys.byteorder))
if ctypes.CDLL(None).prctl(22, 2, ctypes.byref(Filter(1, allow))) != 0: raise OSError("no filter")
os.execvp(sys.argv[1], sys.argv[1:])
END`;

for (
  const [name, loss, state, advice] of [
    ["root of a user namespace", { need: "root", take: "", under: "unshare --user --map-root-user" }, "missing", /Run it on the host/],
    ["an older kernel", { need: "Linux 5.8 or newer", take: instead("5.4.0-150", "/proc/sys/kernel/osrelease") }, "missing", /newer kernel/],
    [
      "a kernel built without probes",
      {
        need: "kernel configuration",
        take: `if [ -e /proc/config.gz ]
          then echo CONFIG_BPF=y | gzip > "$T/config"; mount --bind "$T/config" /proc/config.gz
          else mount -t tmpfs tmpfs /boot; echo CONFIG_BPF=y > "/boot/config-$(uname -r)"
          fi`,
      },
      "missing",
      /built with these options/,
    ],
    [
      "a kernel that is locked down",
      {
        need: "a kernel not locked down",
        take: "mount -t tmpfs tmpfs /sys/kernel/security; echo 'none integrity [confidentiality]' > /sys/kernel/security/lockdown",
      },
      "missing",
      /lockdown=integrity/,
    ],
    [
      "a kernel that skips hits and counts none",
      { need: "a kernel that counts the hits it skips", take: instead("6.1.0-18-amd64", "/proc/sys/kernel/osrelease") },
      "warning",
      /newer kernel/,
    ],
    [
      "a filter of system calls",
      { need: "no filter of system calls", take: filtered, under: 'python3 "$T/filtered"' },
      "warning",
      /seccomp=unconfined/,
    ],
    [
      "no PMU",
      {
        need: "hardware counters",
        take: `cp -a /sys/bus/event_source/devices "$T/devices"; rm -rf "$T"/devices/cpu* "$T"/devices/armv*
          mount --bind "$T/devices" /sys/bus/event_source/devices`,
      },
      "warning",
      /pmu=on/,
    ],
    ["a /run with little room", { need: "room in /run", take: "mount -t tmpfs -o size=1m tmpfs /run" }, "warning", /^Delete what/],
    [
      "little memory that may be locked, and a kernel whose maps count",
      {
        need: "locked memory",
        take: `${instead("5.10.0-30-amd64", "/proc/sys/kernel/osrelease")}; ulimit -l 8192`,
        under: without("sys_resource"),
      },
      "warning",
      /--cap-add SYS_RESOURCE/,
    ],
    [
      "few files that may be open, and a root who may not raise that",
      { need: "open files", take: "ulimit -n 64", under: without("sys_resource") },
      "warning",
      /--ulimit nofile=4096/,
    ],
    ["no CAP_SYS_ADMIN", { need: "CAP_SYS_ADMIN", take: "", under: without("sys_admin") }, "missing", /--privileged --pid host/],
    ["no CAP_SYS_PTRACE", { need: "CAP_SYS_PTRACE", take: "", under: without("sys_ptrace") }, "warning", /--cap-add SYS_PTRACE/],
    ["no CAP_KILL", { need: "CAP_KILL", take: "", under: without("kill") }, "warning", /--cap-add KILL/],
    ["no CAP_SETUID", { need: "CAP_SETUID", take: "", under: without("setuid") }, "warning", /--cap-add SETUID/],
    ...(["DAC_OVERRIDE", "DAC_READ_SEARCH", "PERFMON", "BPF"] as const).map((name) =>
      [
        `no CAP_${name}, which a newer bpftrace asks for`,
        { need: `CAP_${name}`, take: sayingBpftrace("0.27"), under: without(name.toLowerCase()) },
        "missing",
        new RegExp(`--cap-add ${name}\\.`),
      ] as const
    ),
    ["a bpftrace that makes a link for each probe", { need: "one link for many probes", take: sayingBpftrace("0.17") }, "warning", /0\.20 or newer/],
    [
      "little memory that may be locked, and a bpftrace without ring buffer",
      { need: "locked memory", take: `${sayingBpftrace("0.17")}; ulimit -l 8192`, under: without("ipc_lock,-sys_resource") },
      "missing",
      /--ulimit memlock=-1 or --cap-add IPC_LOCK/,
    ],
  ] as const
) advises(name, loss, state, advice);

if (Deno.build.arch === "x86_64") {
  advises(
    "a kernel that asks filters of returns",
    { need: "a kernel that lets filtered processes return", take: instead("6.12.0-55.el10", "/proc/sys/kernel/osrelease") },
    "warning",
    /^Linux 6\.12\.17, /,
  );
}

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
