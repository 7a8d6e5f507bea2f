import assert from "node:assert/strict";
import { atLeast, findBpftrace, parseBpftrace, probeBpftrace } from "./bpftrace.ts";
import { type Capabilities, readCapabilities } from "./capabilities.ts";
import { checks } from "./checks.ts";
import { FolderFiles } from "./folder_files.ts";
import { installAdvice, preflight, sudoLine } from "./preflight.ts";

const info17 = `System
  OS: Linux 6.18.44
Build
  version: v0.17.0
  unsafe uprobe: no
  bfd: no
Map types
  perf_event_array: yes
Probe types
  kprobe_multi: no
`;
const info23 = `Build
  version: v0.23.2
  bfd: yes
Map types
  hash: yes                        array: yes                         
  perf_event_array: yes            ringbuf: yes                       
Probe types
  kprobe_multi: no                 uprobe_multi: yes                  
`;

/** A machine on which everything is there. */
const good: Capabilities = {
  root: true,
  effectiveCaps: 0x1ffffffffffn,
  sysAdmin: true,
  kernel: "6.18.44",
  arch: "x86_64",
  cpuModel: "Some CPU",
  cpus: 8,
  memoryBytes: 2 ** 34,
  governor: "performance",
  tracefs: "/sys/kernel/tracing",
  btf: true,
  lockdown: "none",
  pidNamespaceIsInit: true,
  pmu: true,
  distribution: ["debian"],
  bpftrace: parseBpftrace("/usr/bin/bpftrace", "bpftrace v0.23.2\n", info23),
  tracepoints: new Set(["syscalls:sys_enter_mmap"]),
};

Deno.test("bpftrace: version and features in both layouts of --info", () => {
  assert.deepEqual(parseBpftrace("/b", "bpftrace v0.17.0\n", info17), {
    path: "/b",
    version: [0, 17, 0],
    text: "bpftrace v0.17.0",
    features: { offsets: false, ringbuf: false, uprobeMulti: false },
  });
  assert.deepEqual(parseBpftrace("/b", "bpftrace v0.23.2\n", info23)!.features, { offsets: true, ringbuf: true, uprobeMulti: true });
  assert.deepEqual(parseBpftrace("/b", "bpftrace v0.24\n", "")!.version, [0, 24, 0]);
  assert.equal(parseBpftrace("/b", "something else", info23), null);
});

Deno.test("bpftrace: a program that is none is null", async () => {
  assert.equal(await probeBpftrace("/bin/true"), null);
  assert.equal(await probeBpftrace("/nonexistent"), null);
});

Deno.test("bpftrace: versions compare by number", () => {
  assert.ok(atLeast([0, 16, 0], 0, 16) && atLeast([0, 20, 0], 0, 3) && atLeast([1, 0, 0], 0, 16));
  assert.ok(!atLeast([0, 14, 9], 0, 16));
});

async function withMachine(texts: Record<string, string>, check: (files: FolderFiles, root: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    for (const [path, text] of Object.entries(texts)) {
      await Deno.mkdir(root + path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(root + path, text);
    }
    await check(new FolderFiles(root), root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("capabilities: everything that a machine says", () =>
  withMachine({
    "/proc/12/status": "Name:\tdeno\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n",
    "/proc/sys/kernel/osrelease": "6.18.44-test\n",
    "/proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC 7B13\n\nprocessor\t: 1\nmodel name\t: AMD EPYC 7B13\n",
    "/proc/meminfo": "MemTotal:       24683800 kB\nMemFree: 1 kB\n",
    "/proc/self/mounts": "proc /proc proc rw 0 0\ntracefs /sys/kernel/tracing tracefs rw 0 0\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
    "/sys/kernel/security/lockdown": "none [integrity] confidentiality\n",
    "/sys/kernel/btf/vmlinux": "x",
    "/sys/kernel/tracing/events/sched/sched_switch/id": "1",
    "/sys/kernel/tracing/events/enable": "0",
    "/sys/bus/event_source/devices/cpu/type": "4",
    "/etc/os-release": 'PRETTY_NAME="x"\nID=ubuntu\nID_LIKE="debian other"\n',
    "/opt/bin/bpftrace": "",
  }, async (files, root) => {
    await Deno.chmod(`${root}/opt/bin/bpftrace`, 0o755);
    await Deno.mkdir(`${root}/proc/self/ns`, { recursive: true });
    await Deno.symlink("pid:[4026531836]", `${root}/proc/self/ns/pid`);
    const machine = await readCapabilities(files, {
      pid: 12,
      path: "/usr/bin:relative:/opt/bin",
      probe: (path) => Promise.resolve(parseBpftrace(path, "bpftrace v0.17.0", info17)),
    });
    assert.deepEqual({ ...machine, bpftrace: machine.bpftrace?.path }, {
      root: true,
      effectiveCaps: 0x1ffffffffffn,
      sysAdmin: true,
      kernel: "6.18.44-test",
      arch: Deno.build.arch,
      cpuModel: "AMD EPYC 7B13",
      cpus: 2,
      memoryBytes: 24683800 * 1024,
      governor: "powersave",
      tracefs: "/sys/kernel/tracing",
      btf: true,
      lockdown: "integrity",
      pidNamespaceIsInit: true,
      pmu: true,
      distribution: ["ubuntu", "debian", "other"],
      bpftrace: "/opt/bin/bpftrace",
      tracepoints: new Set(["sched:sched_switch"]),
    });
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
    assert.equal(preflight(machine, ["llmprof"]).length, 3);
    assert.ok(checks(machine, ["llmprof"]).length > 10);
  }));

Deno.test("capabilities: an unreadable bpftrace path is not executable", () =>
  withMachine({ "/usr/bin/bpftrace": "" }, async (files) => {
    assert.equal(await findBpftrace(files, "/usr/bin"), null);
  }));

Deno.test("preflight: nothing to say about a machine that can trace", () => {
  assert.deepEqual(preflight(good, ["llmprof"]), []);
  assert.deepEqual(checks(good, ["llmprof"]).filter(({ ok }) => ok !== true), []);
});

Deno.test("preflight: each reason has exit code 3 and a next step", () => {
  const reason = (change: Partial<Capabilities>, argv = ["llmprof", "io"]) => {
    const errors = preflight({ ...good, ...change }, argv);
    assert.equal(errors.length, 1);
    assert.equal(errors[0]!.exitCode, 3);
    return `${errors[0]!.what} | ${errors[0]!.next}`;
  };
  assert.equal(reason({ root: false, sysAdmin: false }), "Tracing needs root. | Run: sudo llmprof io");
  assert.match(reason({ sysAdmin: false }), /^Tracing needs CAP_SYS_ADMIN/);
  assert.match(reason({ lockdown: "confidentiality" }), /locked down/);
  assert.equal(reason({ tracefs: null }), "tracefs is not mounted. | Run: sudo mount -t tracefs tracefs /sys/kernel/tracing");
  assert.equal(reason({ bpftrace: null }), "bpftrace is not installed. | Run: sudo apt-get install bpftrace");
  const old = parseBpftrace("/usr/bin/bpftrace", "bpftrace v0.14.0", "");
  assert.match(reason({ bpftrace: old }), /^bpftrace v0\.14\.0 is too old: llmprof needs 0\.16\. \| .*--bpftrace PATH/);
});

Deno.test("preflight: the command line is repeated so that a shell reads it alike", () => {
  assert.equal(sudoLine(["llmprof", "io", "--match", "it's (a)"]), `sudo llmprof io --match 'it'\\''s (a)'`);
});

Deno.test("preflight: the install command follows the distribution, or its parent", () => {
  assert.equal(installAdvice(["fedora"]), "Run: sudo dnf install bpftrace");
  assert.equal(installAdvice(["mint-like", "ubuntu"]), "Run: sudo apt-get install bpftrace");
  assert.match(installAdvice([]), /0\.16 or newer/);
});

Deno.test("checks: what is missing names its consequence and its fix", () => {
  const old = parseBpftrace("/usr/bin/bpftrace", "bpftrace v0.17.0", info17);
  const found = checks({ ...good, bpftrace: old, pmu: false, btf: false, governor: "powersave", tracepoints: new Set() }, ["llmprof", "doctor"]);
  assert.deepEqual(found.filter(({ ok }) => ok !== true).map(({ need, ok }) => [need, ok]), [
    ["tracepoints of system calls", false],
    ["BTF", "warning"],
    ["probes at function+4", "warning"],
    ["ring buffer", "warning"],
    ["one link for many probes", "warning"],
    ["hardware counters", "warning"],
    ["steady clock frequency", "warning"],
  ]);
  for (const { ok, consequence, found: value } of found) assert.ok(value !== "" && (ok === true) === (consequence === ""));
});

Deno.test("checks: an ordinary user is told what is unknown, not what is missing", () => {
  const machine = { ...good, root: false, sysAdmin: false, tracepoints: new Set<string>(), bpftrace: parseBpftrace("/b", "bpftrace v0.20.2", "") };
  const found = new Map(checks(machine, ["llmprof", "doctor"]).map((check) => [check.need, check]));
  assert.equal(found.get("root")!.fix, "sudo llmprof doctor");
  assert.equal(found.get("tracepoints of system calls")!.ok, "warning");
  assert.equal(found.get("ring buffer")!.found, "unknown without root");
});
