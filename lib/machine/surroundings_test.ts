import assert from "node:assert/strict";
import { mountLine, withMachine } from "../../tests/harness/fake_machine.ts";
import { readSurroundings } from "./surroundings.ts";

const options = { pid: 12, folders: ["/here", "/gone"], free: () => Promise.resolve([5, null, 7]) };

Deno.test("surroundings: control groups of the second version, of which one above sets the limit", () =>
  withMachine({
    "/proc/self/mounts": "tmpfs /run tmpfs ro 0 0\n",
    "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup"),
    "/proc/12/cgroup": "0::/job.slice/task\n",
    "/proc/12/status": "Name:\tdeno\nCpus_allowed_list:\t0-1,4\n",
    "/proc/12/limits":
      "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files     \nMax locked memory         8388608              8388608              bytes     \n",
    "/sys/fs/cgroup/job.slice/memory.max": "536870912\n",
    "/sys/fs/cgroup/job.slice/memory.current": "500000000\n",
    "/sys/fs/cgroup/job.slice/memory.stat": "anon 90000000\ninactive_file 300000000\nactive_file 100000000\nunevictable 5\n",
    "/sys/fs/cgroup/job.slice/task/memory.current": "90000000\n",
    "/proc/meminfo": "MemTotal:       16000000 kB\nMemFree:          200000 kB\nMemAvailable:    3000000 kB\n",
    "/sys/fs/cgroup/job.slice/task/memory.high": "268435456\n",
    "/sys/fs/cgroup/job.slice/cpu.max": "max 100000\n",
    "/sys/fs/cgroup/job.slice/task/memory.max": "max\n",
    "/sys/fs/cgroup/job.slice/task/cpu.max": "50000 100000\n",
    "/sys/fs/cgroup/job.slice/pids.max": "100\n",
    "/sys/fs/cgroup/job.slice/pids.current": "93\n",
    "/sys/fs/cgroup/job.slice/task/pids.max": "50\n",
    "/sys/fs/cgroup/job.slice/task/pids.current": "3\n",
    "/proc/sys/kernel/perf_event_paranoid": "-1\n",
    "/proc/pressure/cpu": "some avg10=0.00\n",
    "/proc/sys/kernel/osrelease": "6.1.0\n",
    "/boot/config-6.1.0": "# comment\nCONFIG_BPF=y\n# CONFIG_KPROBES is not set\nCONFIG_HZ=250\n",
  }, async (files) => {
    assert.deepEqual(await readSurroundings(files, options), {
      config: new Map([["CONFIG_BPF", "y"], ["CONFIG_HZ", "250"]]),
      pressure: true,
      hiddenPressure: null,
      memoryLimit: { left: 178435456, most: 268435456, file: "/sys/fs/cgroup/job.slice/task/memory.high" },
      availableMemory: 3072000000,
      cpuLimit: { cpus: 0.5, file: "/sys/fs/cgroup/job.slice/task/cpu.max" },
      processLimit: { left: 7, most: 100, file: "/sys/fs/cgroup/job.slice/pids.max" },
      allowedCpus: 3,
      lockedMemory: 8388608,
      openFiles: 1024,
      perfLocked: false,
      room: [{ folder: "/here", bytes: 5, readOnly: null, kept: false }, { folder: "/gone", bytes: null, readOnly: null, kept: false }],
      run: { folder: "/run", bytes: 7, readOnly: "/run", kept: false },
    });
  }));

Deno.test("surroundings: control groups of the first version, mounts that hide, a packed configuration", () =>
  withMachine({
    "/proc/self/mounts": "proc /proc proc rw 0 0\ntmpfs /proc/pressure tmpfs ro 0 0\n",
    "/proc/self/mountinfo": mountLine("cgroup", "/sys/fs/cgroup/memory", "rw,memory") +
      mountLine("cgroup", "/sys/fs/cgroup/cpu\\040x", "rw,cpu,cpuacct"),
    "/proc/12/cgroup": "9:name=systemd:/\n4:memory:/job\n1:cpu,cpuacct:/job\n0::/\n",
    "/proc/12/limits": "Max locked memory         65536                unlimited            bytes     \n",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "/sys/fs/cgroup/memory/job/memory.limit_in_bytes": "67108864\n",
    "/sys/fs/cgroup/memory/job/memory.usage_in_bytes": "60000000\n",
    "/sys/fs/cgroup/memory/job/memory.stat": "inactive_file 1\nactive_file 2\ntotal_inactive_file 30000000\ntotal_active_file 10000000\n",
    "/sys/fs/cgroup/cpu x/job/cpu.cfs_quota_us": "25000\n",
    "/sys/fs/cgroup/cpu x/job/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/cpu x/cpu.cfs_quota_us": "-1\n",
    "/sys/fs/cgroup/cpu x/cpu.cfs_period_us": "100000\n",
  }, async (files, root) => {
    const packed = new Response("CONFIG_UPROBES=y\n").body!.pipeThrough(new CompressionStream("gzip"));
    await Deno.writeFile(`${root}/proc/config.gz`, packed);
    const { config, hiddenPressure, memoryLimit, cpuLimit, lockedMemory } = await readSurroundings(files, options);
    assert.deepEqual(config, new Map([["CONFIG_UPROBES", "y"]]));
    assert.deepEqual([hiddenPressure, lockedMemory], ["/proc/pressure", null]);
    assert.deepEqual(memoryLimit, { left: 47108864, most: 67108864, file: "/sys/fs/cgroup/memory/job/memory.limit_in_bytes" });
    assert.deepEqual(cpuLimit, { cpus: 0.25, file: "/sys/fs/cgroup/cpu x/job/cpu.cfs_quota_us" });
  }));

Deno.test("surroundings: the limit on memory that leaves least need not be the lowest", () =>
  withMachine({
    "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup"),
    "/proc/12/cgroup": "0::/pod/app\n",
    "/sys/fs/cgroup/pod/memory.max": "8000000000\n",
    "/sys/fs/cgroup/pod/memory.current": "7900000000\n",
    "/sys/fs/cgroup/pod/memory.stat": "anon 7700000000\ninactive_file 100000000\nactive_file 50000000\n",
    "/sys/fs/cgroup/pod/app/memory.max": "4000000000\n",
    "/sys/fs/cgroup/pod/app/memory.current": "1000000000\n",
  }, async (files) => {
    const { memoryLimit } = await readSurroundings(files, options);
    assert.deepEqual(memoryLimit, { left: 250000000, most: 8000000000, file: "/sys/fs/cgroup/pod/memory.max" });
  }));

Deno.test("surroundings: in a container, limits where its groups are mounted", () =>
  withMachine({
    "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup"),
    "/proc/12/cgroup": "0::/\n",
    "/sys/fs/cgroup/memory.max": "67108864\n",
    "/sys/fs/cgroup/cpu.max": "150000 100000\n",
  }, async (files) => {
    const { memoryLimit, cpuLimit } = await readSurroundings(files, options);
    assert.deepEqual(memoryLimit, { left: 67108864, most: 67108864, file: "/sys/fs/cgroup/memory.max" });
    assert.deepEqual(cpuLimit, { cpus: 1.5, file: "/sys/fs/cgroup/cpu.max" });
  }));

Deno.test("surroundings: a machine that says nothing", () =>
  withMachine({}, async (files) => {
    const { config, pressure, memoryLimit, availableMemory, cpuLimit, processLimit, lockedMemory } = await readSurroundings(files, options);
    assert.deepEqual([config, pressure, memoryLimit, cpuLimit, processLimit, lockedMemory], [null, false, null, null, null, null]);
    assert.equal(availableMemory, Infinity);
  }));

Deno.test("surroundings: this machine's room is a number", async () => {
  const { ReaderFiles } = await import("./reader_files.ts");
  const { room } = await readSurroundings(new ReaderFiles(), { pid: Deno.pid, folders: ["/tmp", "/no/such/folder"] });
  assert.ok(room[0]!.bytes! > 0);
  assert.equal(room[1]!.bytes, null);
});
