import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import { type Answer, findBpftrace, parseBpftrace } from "./bpftrace.ts";
import { readCapabilities } from "./capabilities.ts";

/** A bpftrace that says this of its features. */
const answering = (info: string) => (path: string): Promise<Answer> =>
  Promise.resolve({ bpftrace: parseBpftrace(path, "bpftrace v0.17.0", info, "whole")!, isWhole: true });

Deno.test("capabilities: everything that a machine says", () =>
  withMachine({
    "/proc/12/status": "Name:\tdeno\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nNoNewPrivs:\t1\nSeccomp:\t2\n",
    "/proc/sys/kernel/osrelease": "6.18.44-test\n",
    "/proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC 7B13\n\nprocessor\t: 1\nmodel name\t: AMD EPYC 7B13\n",
    "/proc/meminfo": "MemTotal:       24683800 kB\nMemFree: 1 kB\n",
    "/proc/self/mounts": "proc /proc proc rw 0 0\ntracefs /sys/kernel/tracing tracefs rw 0 0\ntmpfs /sys/kernel/tracing/events/ext4 tmpfs rw 0 0\n",
    "/proc/self/uid_map": "         0       1000          1\n         1     100000      65536\n",
    "/proc/self/smaps": "55d0-55d1 r--p 0 0 0 /bin/cat\nSize:  64 kB\nKernelPageSize:       64 kB\n",
    "/sys/devices/system/cpu/possible": "0-5\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
    "/sys/kernel/security/lockdown": "none [integrity] confidentiality\n",
    "/sys/kernel/btf/vmlinux": "x",
    "/sys/kernel/realtime": "1\n",
    "/sys/kernel/tracing/events/sched/sched_switch/id": "1",
    "/sys/kernel/tracing/events/task/task_rename/format": "\tfield:int common_pid;\toffset:4;\n\n\tfield:pid_t pid;\toffset:8;\n",
    "/sys/kernel/tracing/events/filemap/mm_filemap_add_to_page_cache/format": "\tfield:unsigned char order;\toffset:36;\n",
    "/sys/kernel/tracing/events/enable": "0",
    "/sys/bus/event_source/devices/cpu/type": "4",
    "/sys/bus/event_source/devices/cpu/events/cpu-cycles": "",
    "/sys/bus/event_source/devices/cpu/events/cache-misses": "",
    "/sys/bus/event_source/devices/cpu/events/topdown-retiring": "",
    "/etc/os-release": 'PRETTY_NAME="x"\nID=ubuntu\nVERSION_ID="22.04"\nID_LIKE="debian other"\n',
    "/opt/bin/bpftrace": "",
  }, async (files, root) => {
    await Deno.chmod(`${root}/opt/bin/bpftrace`, 0o755);
    await Deno.mkdir(`${root}/proc/self/ns`, { recursive: true });
    await Deno.symlink("pid:[4026531836]", `${root}/proc/self/ns/pid`);
    const machine = await readCapabilities(files, {
      pid: 12,
      path: "/usr/bin:relative:/opt/bin",
      probe: answering(""),
    });
    assert.deepEqual({ ...machine, bpftrace: machine.bpftrace?.path }, {
      root: true,
      effectiveCaps: 0x1ffffffffffn,
      sysAdmin: true,
      noNewPrivileges: true,
      seccomp: true,
      kernel: "6.18.44-test",
      arch: Deno.build.arch,
      cpuModel: "AMD EPYC 7B13",
      cpus: 2,
      possibleCpus: 6,
      memoryBytes: 24683800 * 1024,
      pageBytes: 65536,
      governor: "powersave",
      tracefs: "/sys/kernel/tracing",
      btf: true,
      hiddenBtf: null,
      lockdown: "integrity",
      realtime: true,
      pidNamespaceIsInit: true,
      userNamespaceIsInit: false,
      counters: new Set(["cpu-cycles", "cache-misses"]),
      distribution: ["ubuntu", "debian", "other"],
      release: 22.04,
      bpftrace: "/opt/bin/bpftrace",
      bpftracePath: "/opt/bin/bpftrace",
      cacheKey: null,
      tracepoints: new Set(["sched:sched_switch", "task:task_rename", "filemap:mm_filemap_add_to_page_cache"]),
      tracepointFields: new Set(["task:task_rename.pid", "filemap:mm_filemap_add_to_page_cache.order"]),
      hidingTracepoints: ["/sys/kernel/tracing/events/ext4"],
    });
  }));

Deno.test("capabilities: a bpftrace that is named and not told where is looked for, and called as it was where there is none", () =>
  withMachine({ "/opt/bin/bpftrace-0.23": "" }, async (files, root) => {
    await Deno.chmod(`${root}/opt/bin/bpftrace-0.23`, 0o755);
    const probe = () => Promise.resolve(null);
    const read = (bpftrace: string) => readCapabilities(files, { pid: 12, path: "/opt/bin", bpftrace, probe });
    assert.deepEqual(
      await Promise.all(["bpftrace-0.23", "none", "./bpftrace-0.23"].map(async (name) => (await read(name)).bpftracePath)),
      ["/opt/bin/bpftrace-0.23", "none", "./bpftrace-0.23"],
    );
  }));

Deno.test("capabilities: what is found out once is kept for this file and boot, and for nothing where no boot is told", () =>
  withMachine({ "/proc/sys/kernel/osrelease": "6.18.44-test\n", "/proc/sys/kernel/random/boot_id": "b007\n" }, async (files, root) => {
    const bpftrace = `${root}/bpftrace`;
    Deno.writeTextFileSync(bpftrace, "one");
    const read = () => readCapabilities(files, { pid: 12, bpftrace, probe: answering("") });
    const { path, bytes, boot } = (await read()).cacheKey!;
    assert.deepEqual({ path, bytes, boot }, { path: bpftrace, bytes: 3, boot: "b007" });
    Deno.removeSync(`${root}/proc/sys/kernel/random/boot_id`);
    assert.equal((await read()).cacheKey, null);
  }));

Deno.test("capabilities: what a bpftrace can do is kept where llmprof may use it, and forgotten with what a script starts", () =>
  withMachine({ "/proc/sys/kernel/random/boot_id": "b007\n" }, async (files, root) => {
    const bpftrace = `${root}/wrapper`, started = `${root}/usr/bin/bpftrace`;
    Deno.writeTextFileSync(bpftrace, `#!/bin/sh\nexec "${started}" "$@"\n`);
    Deno.mkdirSync(`${root}/usr/bin`, { recursive: true });
    Deno.writeTextFileSync(started, "one");
    const place = { folder: `${root}/cache`, uid: Deno.uid()! };
    const hasRing = async (caps: string, info: string) => {
      Deno.writeTextFileSync(`${root}/proc/12/status`, `CapEff:\t${caps}\n`);
      return (await readCapabilities(files, { pid: 12, bpftrace, remember: "use", place, probe: answering(info) })).bpftrace!.features.ringbuf;
    };
    Deno.mkdirSync(`${root}/proc/12`);
    // All but CAP_SYS_ADMIN.
    const some = "000001ffffdfffff", all = "000001ffffffffff";
    assert.equal(await hasRing(some, "ringbuf: no"), false);
    assert.equal(await hasRing(all, "ringbuf: yes"), true);
    assert.equal(await hasRing(some, "ringbuf: no"), true, "it is known by now");
    Deno.writeTextFileSync(started, "another");
    assert.equal(await hasRing(all, "ringbuf: no"), false);
  }));

Deno.test("capabilities: a machine that says nothing", () =>
  withMachine({}, async (files) => {
    const machine = await readCapabilities(files, { pid: 12, path: "/usr/bin" });
    assert.equal(machine.root, false);
    assert.equal(machine.sysAdmin, false);
    assert.equal(machine.tracefs, null);
    assert.equal(machine.bpftrace, null);
    assert.equal(machine.lockdown, null);
    assert.equal(machine.pidNamespaceIsInit, false);
    assert.equal(machine.tracepoints.size, 0);
  }));

Deno.test("capabilities: what something else is mounted over is not there, and the mount is named", () =>
  withMachine({
    "/proc/self/mounts": "sysfs /sys sysfs rw 0 0\ntracefs /sys/kernel/tracing tracefs rw 0 0\ntmpfs /sys/kernel/tracing tmpfs rw 0 0\n" +
      "tmpfs /sys/kernel/btf tmpfs rw 0 0\n",
  }, async (files) => {
    const machine = await readCapabilities(files, { pid: 12, path: "/usr/bin" });
    assert.deepEqual([machine.tracefs, machine.btf, machine.hiddenBtf], [null, false, "/sys/kernel/btf"]);
  }));

Deno.test("capabilities: tracefs below a mount of what it lies in is not there", () =>
  withMachine({
    "/proc/self/mounts": "sysfs /sys sysfs rw 0 0\ntracefs /sys/kernel/tracing tracefs rw 0 0\nsysfs /sys sysfs rw 0 0\n",
    "/sys/kernel/tracing/events/sched/sched_switch/id": "1",
  }, async (files) => {
    assert.equal((await readCapabilities(files, { pid: 12, path: "/usr/bin" })).tracefs, null);
  }));

Deno.test("capabilities: tracefs below debugfs is there when it was looked into, unless something lies over debugfs or nothing comes", async () => {
  const sysfs = "sysfs /sys sysfs rw 0 0\n", debugfs = "debugfs /sys/kernel/debug debugfs rw 0 0\n";
  const event = { "/sys/kernel/debug/tracing/events/sched/sched_switch/id": "1" };
  const read = async (mounts: string, there: Record<string, string>) => {
    let found: unknown;
    await withMachine({ "/proc/self/mounts": mounts, ...there }, async (files) => {
      const { tracefs, tracepoints } = await readCapabilities(files, { pid: 12, path: "/usr/bin" });
      found = [tracefs, [...tracepoints]];
    });
    return found;
  };
  assert.deepEqual(await read(sysfs + debugfs, event), ["/sys/kernel/debug/tracing", ["sched:sched_switch"]]);
  const tracefs = "tracefs /sys/kernel/debug/tracing tracefs rw 0 0\n";
  assert.deepEqual(await read(sysfs + debugfs + tracefs, event), ["/sys/kernel/debug/tracing", ["sched:sched_switch"]]);
  for (const over of ["tmpfs /sys/kernel/debug tmpfs rw 0 0\n", "tmpfs /sys/kernel/debug/tracing tmpfs rw 0 0\n", sysfs]) {
    assert.deepEqual(await read(sysfs + debugfs + over, event), [null, []]);
  }
  assert.deepEqual(await read(sysfs, event), [null, []]);
  assert.deepEqual(await read(sysfs + debugfs, {}), [null, []]);
});

Deno.test("capabilities: an unreadable bpftrace path is not executable", () =>
  withMachine({ "/usr/bin/bpftrace": "" }, async (files) => {
    assert.equal(await findBpftrace(files, "/usr/bin"), null);
  }));
