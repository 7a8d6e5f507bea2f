import assert from "node:assert/strict";
import { mountLine, withMachine } from "../../tests/harness/fake_machine.ts";
import type { Limits } from "../events/surroundings.ts";
import { findGroups, readLimits } from "./control_group.ts";

Deno.test("control group: version 2, the narrowest limit of the group and those above it", async () => {
  await withMachine({
    "/proc/100/cgroup": "0::/pod/app\n",
    "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup"),
    "/sys/fs/cgroup/pod/cpu.max": "150000 100000\n",
    "/sys/fs/cgroup/pod/cpu.stat": "usage_usec 5\nnr_periods 9\nnr_throttled 2\nthrottled_usec 30\n",
    "/sys/fs/cgroup/pod/memory.max": "1000000\n",
    "/sys/fs/cgroup/pod/memory.current": "900000\n",
    "/sys/fs/cgroup/pod/memory.events": "low 0\noom 4\noom_kill 4\n",
    "/sys/fs/cgroup/pod/memory.high": "max\n",
    "/sys/fs/cgroup/pod/io.max": "8:16 rbps=1000000 wbps=max riops=max wiops=max\n8:0 rbps=max wbps=5 riops=max wiops=max\n",
    "/sys/fs/cgroup/pod/app/io.max": "8:16 rbps=2000000 wbps=max riops=120 wiops=max\n",
    "/sys/fs/cgroup/pod/app/cpu.max": "max 100000\n",
    "/sys/fs/cgroup/pod/app/cpu.stat": "nr_throttled 0\nthrottled_usec 0\n",
    "/sys/fs/cgroup/pod/app/memory.max": "max\n",
    "/sys/fs/cgroup/pod/app/memory.current": "800000\n",
    "/sys/fs/cgroup/pod/app/memory.events": "oom 1\noom_kill 1\noom_group_kill 0\n",
  }, async (files) => {
    const groups = await findGroups(files, 100);
    assert.deepEqual(groups?.cpu, ["/sys/fs/cgroup/pod/app", "/sys/fs/cgroup/pod", "/sys/fs/cgroup"]);
    assert.deepEqual(await readLimits(files, groups!, 4096), {
      cpus: 1.5,
      throttled: 2,
      throttledNs: 30_000,
      memoryLimit: 1_000_000,
      memoryBytes: 900_000,
      killed: 1,
      // The narrowest of each; what has no limit of reads is not told of.
      reads: [{ device: "8:16", bytes: 1_000_000, requests: 120 }],
    });
  });
});

Deno.test("control group: processes killed for want of memory are those of the machine where nothing smaller counts them, or all is watched", async () => {
  const killed = async (group: string, events: number, isOne: boolean) => {
    let found: number | undefined;
    await withMachine({
      "/proc/100/cgroup": `0::${group}\n`,
      "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup"),
      "/proc/vmstat": `pswpin 7\noom_kill ${events}\n`,
      "/sys/fs/cgroup/cpu.stat": "usage_usec 5\n",
      "/sys/fs/cgroup/app/memory.events": "oom 2\noom_kill 2\noom_group_kill 0\n",
      "/sys/fs/cgroup/other/cpu.stat": "usage_usec 5\n",
      // Without a controller for memory of its own.
      "/sys/fs/cgroup/app/part/cpu.stat": "usage_usec 5\n",
    }, async (files) => {
      found = (await readLimits(files, (await findGroups(files, 100))!, 4096, isOne))!.killed;
    });
    return found!;
  };
  const grows = async (group: string, isOne: boolean) => await killed(group, 4, isOne) - await killed(group, 3, isOne);
  assert.deepEqual([await grows("/", false), await grows("/other", false), await grows("/app", false), await grows("/app", true)], [1, 1, 0, 1]);
  assert.deepEqual([await killed("/app", 4, false), await killed("/app/part", 4, false)], [2, 2]);
});

Deno.test("control group: of one that is being removed, a hierarchy at a time, nothing is told, and not what the machine has counted", async () => {
  await withMachine({
    "/proc/100/cgroup": "4:memory:/app\n3:cpu,cpuacct:/app\n",
    "/proc/self/mountinfo": `${mountLine("cgroup", "/sys/fs/cgroup/memory", "memory")}${mountLine("cgroup", "/sys/fs/cgroup/cpu", "cpu,cpuacct")}`,
    "/proc/vmstat": "oom_kill 40\n",
    "/sys/fs/cgroup/cpu/app/cpu.stat": "nr_throttled 0\n",
    "/sys/fs/cgroup/memory/memory.oom_control": "oom_kill 7\n",
  }, async (files) => {
    assert.equal(await readLimits(files, (await findGroups(files, 100))!, 4096), null);
  });
});

Deno.test("control group: where the kernel holds a group back before its limit, how often, and what is used of the narrower of both", async () => {
  const folder = "/sys/fs/cgroup/app.slice";
  const app = {
    "/proc/100/cgroup": "0::/app.slice/llm.service\n",
    "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup"),
    [`${folder}/memory.max`]: "max\n",
    [`${folder}/memory.high`]: "700000\n",
    [`${folder}/memory.current`]: "690000\n",
    [`${folder}/memory.events`]: "low 0\nhigh 12\nmax 0\noom 0\noom_kill 0\n",
    [`${folder}/llm.service/memory.max`]: "900000\n",
    [`${folder}/llm.service/memory.high`]: "max\n",
    [`${folder}/llm.service/memory.current`]: "5000\n",
    [`${folder}/llm.service/memory.events`]: "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n",
  };
  const tells = (more: Readonly<Record<string, string>>, expected: Partial<Limits>) =>
    withMachine({ ...app, ...more }, async (files) => {
      const { memoryLimit, memoryHigh, memoryBytes, heldBack } = (await readLimits(files, (await findGroups(files, 100))!, 4096))!;
      assert.deepEqual({ memoryLimit, memoryHigh, memoryBytes, heldBack }, expected);
    });
  await tells({}, { memoryLimit: 900_000, memoryHigh: 700_000, memoryBytes: 690_000, heldBack: 12 });
  const narrow = { [`${folder}/llm.service/memory.max`]: "6000\n" };
  await tells(narrow, { memoryLimit: 6000, memoryHigh: 700_000, memoryBytes: 5000, heldBack: 12 });
});

Deno.test("control group: version 1, a hierarchy for each controller, beside one of version 2 that has none", async () => {
  await withMachine({
    "/proc/100/cgroup": "7:blkio:/b\n5:memory:/m\n2:cpuset:/\n1:cpu,cpuacct:/c/d\n0::/u\n",
    "/proc/self/mountinfo": [
      mountLine("cgroup2", "/sys/fs/cgroup/unified"),
      mountLine("cgroup", "/sys/fs/cgroup/cpu,cpuacct", "rw,cpu,cpuacct"),
      mountLine("cgroup", "/sys/fs/cgroup/memory", "rw,memory"),
      mountLine("cgroup", "/sys/fs/cgroup/blkio", "rw,blkio"),
    ].join(""),
    "/sys/fs/cgroup/cpu,cpuacct/c/d/cpu.cfs_quota_us": "20000\n",
    "/sys/fs/cgroup/cpu,cpuacct/c/d/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/cpu,cpuacct/c/d/cpu.stat": "nr_periods 3\nnr_throttled 7\nthrottled_time 12345\n",
    "/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us": "-1\n",
    "/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/memory/m/memory.limit_in_bytes": "9223372036854771712\n",
    "/sys/fs/cgroup/memory/m/memory.usage_in_bytes": "5000\n",
    "/sys/fs/cgroup/memory/m/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
    "/sys/fs/cgroup/blkio/b/blkio.throttle.read_bps_device": "7:0 4194304\n",
    "/sys/fs/cgroup/blkio/b/blkio.throttle.read_iops_device": "",
  }, async (files) => {
    const groups = await findGroups(files, 100);
    assert.equal(groups!.pressure, "/sys/fs/cgroup/unified/u");
    const limits = await readLimits(files, groups!, 4096);
    const reads = [{ device: "7:0", bytes: 4 << 20, requests: null }];
    assert.deepEqual(limits, { cpus: 0.2, throttled: 7, throttledNs: 12_345, memoryLimit: null, memoryBytes: null, killed: 3, reads });
  });
});

Deno.test("control group: in a container with groups of its own they begin where they are mounted", async () => {
  const limits = { cpus: 0.5, throttled: 3, throttledNs: 9000, memoryLimit: 1_000_000, memoryBytes: 5000, killed: 1 };
  await withMachine({
    "/proc/100/cgroup": "0::/\n",
    "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup"),
    "/sys/fs/cgroup/cpu.max": "50000 100000\n",
    "/sys/fs/cgroup/cpu.stat": "nr_throttled 3\nthrottled_usec 9\n",
    "/sys/fs/cgroup/memory.max": "1000000\n",
    "/sys/fs/cgroup/memory.current": "5000\n",
    "/sys/fs/cgroup/memory.events": "oom_kill 1\n",
    "/sys/fs/cgroup/io.max": "8:0 rbps=1000 wbps=max riops=max wiops=max\n",
  }, async (files) => {
    const groups = await findGroups(files, 100);
    const here = ["/sys/fs/cgroup"];
    assert.deepEqual(groups, { cpu: here, memory: here, disks: here, processes: here, pressure: null });
    assert.deepEqual(await readLimits(files, groups!, 4096), { ...limits, reads: [{ device: "8:0", bytes: 1000, requests: null }] });
  });
  const first = {
    "/cpu/cpu.cfs_quota_us": "50000\n",
    "/cpu/cpu.cfs_period_us": "100000\n",
    "/cpu/cpu.stat": "nr_throttled 3\nthrottled_time 9000\n",
    "/memory/memory.limit_in_bytes": "1000000\n",
    "/memory/memory.usage_in_bytes": "5000\n",
    "/memory/memory.oom_control": "oom_kill 1\n",
  };
  // Docker's own namespace of groups, and the machine's: then a process is in them by the machine's names.
  for (const root of ["/", "/docker/a"]) {
    await withMachine({
      ...first,
      "/proc/100/cgroup": `4:memory:${root}\n1:cpu,cpuacct:${root}\n`,
      "/proc/101/cgroup": "4:memory:/docker/ab\n1:cpu,cpuacct:/\n",
      "/proc/self/mountinfo": mountLine("cgroup", "/cpu", "rw,cpu,cpuacct", root) + mountLine("cgroup", "/memory", "rw,memory", root),
    }, async (files) => {
      assert.deepEqual(await readLimits(files, (await findGroups(files, 100))!, 4096), { ...limits, reads: [] }, root);
      // A group that is mounted nowhere here.
      if (root !== "/") assert.equal(await readLimits(files, (await findGroups(files, 101))!, 4096), null);
    });
  }
  await withMachine({
    "/proc/100/cgroup": "0::/pod/app/own\n",
    // What was mounted first is hidden.
    "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup") + mountLine("cgroup2", "/sys/fs/cgroup", "rw", "/pod/app"),
  }, async (files) => {
    const groups = await findGroups(files, 100);
    assert.deepEqual([groups?.cpu, groups?.pressure], [["/sys/fs/cgroup/own", "/sys/fs/cgroup"], "/sys/fs/cgroup/own"]);
  });
  await withMachine({
    "/proc/100/cgroup": "0::/pod/own\n",
    // A part that is mounted elsewhere hides none of those above it.
    "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup") + mountLine("cgroup2", "/mnt/pod", "rw", "/pod"),
  }, async (files) => {
    assert.deepEqual((await findGroups(files, 100))?.cpu, ["/sys/fs/cgroup/pod/own", "/sys/fs/cgroup/pod", "/sys/fs/cgroup"]);
  });
});

Deno.test("control group: none of a process that has ended; nothing of a group that is gone, whatever is above it", async () => {
  await withMachine({
    "/proc/100/cgroup": "0::/x\n",
    "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup"),
    "/sys/fs/cgroup/cpu.stat": "usage_usec 5\n",
  }, async (files) => {
    assert.equal(await findGroups(files, 200), null);
    assert.equal(await readLimits(files, (await findGroups(files, 100))!, 4096), null);
    assert.equal(await readLimits(files, { cpu: [], memory: [], disks: [], processes: [], pressure: null }, 4096), null);
  });
});

Deno.test("control group: what came back of files, by the pages of this machine, not of swap; of version 1 with the groups below, and of older kernels nothing", async () => {
  const folder = "/sys/fs/cgroup/app";
  const tells = (stat: string, pageBytes: number, expected: number | undefined) =>
    withMachine({
      "/proc/100/cgroup": "0::/app\n",
      "/proc/self/mountinfo": mountLine("cgroup2", "/sys/fs/cgroup"),
      [`${folder}/memory.max`]: "700000\n",
      [`${folder}/memory.current`]: "690000\n",
      [`${folder}/memory.stat`]: stat,
    }, async (files) => assert.equal((await readLimits(files, (await findGroups(files, 100))!, pageBytes))!.refaultedBytes, expected));
  await tells("anon 9\nworkingset_refault_anon 700\nworkingset_refault_file 31\n", 4096, 126_976);
  const older = "workingset_refault_anon 7\nworkingset_refault_file 31\n";
  await tells(`${older}total_workingset_refault_anon 8\ntotal_workingset_refault_file 47\n`, 65_536, 3_080_192);
  await tells("anon 9\nworkingset_refault 700\n", 4096, undefined);
});
