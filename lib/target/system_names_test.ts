import assert from "node:assert/strict";
import { isGpuLibrary, isOpenMp, isSystemsFile, kernelThread } from "./system_names.ts";

Deno.test("system names: what the kernel maps, what drives a GPU, OpenMP and nodes of GPUs, and no file of somebody's own that is called so", () => {
  const gpu = ["libcuda.so.1", "libcudnn.so.9.1.0", "libcudnn_ops.so.9", "libcudnn_cnn_infer.so.8", "libcudnn_engines_precompiled.so.9"];
  const openMp = ["libgomp.so.1", "libgomp-a34b3233.so.1.0.0", "libiomp5.so", "libomp.so.5"];
  assert.deepEqual([gpu.filter((name) => !isGpuLibrary(name)), isGpuLibrary("libnccl-net.so")], [[], true]);
  assert.deepEqual(openMp.filter((name) => !isOpenMp(name)), []);
  const nodes = ["nvidia0", "nvidiactl", "nvidia-uvm", "dri/renderD128", "dri/card0", "kfd", "nvidia-caps/nvidia-cap1"].map((node) => `/dev/${node}`);
  assert.deepEqual(["[uprobes]", ...[...gpu, ...openMp].map((name) => `/usr/lib/${name}`), ...nodes].filter((path) => !isSystemsFile(path)), []);
  const own = ["[geheim]", "libcuda-geheim.so", "libgomp.so.geheim", "libcudageheim.so.1", "/home/x/nvidia0", "card0", "/dev/dri/by-path/pci-0"];
  assert.deepEqual([...own, "libcudnn_geheim.so", "libcudnngeheim.so.1", "libnccl-net-geheim.so", "/dev/nvidia-geheim"].filter(isSystemsFile), []);
});

Deno.test("system names: threads of the kernel that work for others, and no program of somebody's own that is called like one", () => {
  const whole = [
    ...["kworker/0:1", "kworker/0:0H", "kworker/u256:12", "kworker/dying", "ksoftirqd/3", "migration/0", "kswapd0", "kcompactd0", "khugepaged"],
    ...["idle_inject/1", "rcu_preempt", "rcu_gp", "rcu_par_gp", "rcu_tasks_kthread", "rcu_tasks_rude_kthread", "rcu_tasks_trace_kthread"],
    ...["rcu_exp_gp_kthread_worker", "rcu_exp_par_gp_kthread_worker/0"],
  ];
  assert.deepEqual(whole.map(kernelThread), whole);
  const cut = whole.map((name) => name.slice(0, 15));
  assert.deepEqual(cut.map(kernelThread), cut);
  const own = [
    "kworker",
    "migration",
    "migration/geheim",
    "kworker/0:1 geheim",
    "kworker/0:1geheim",
    "irq",
    "rcu_geheim",
    "rcu_tasks_geheim",
    "python",
  ];
  assert.deepEqual(own.filter((name) => kernelThread(name) !== undefined), []);
});

Deno.test("system names: of what a thread of the kernel works on, which anybody's program may be called, nothing is the system's", () => {
  const names = ["kworker/0:1-events", "kworker/u8:2+flush-259:0", "kworker/R-geheim", "irq/24-nvme0q1"];
  assert.deepEqual(names.map(kernelThread), ["kworker/0:1", "kworker/u8:2", "kworker/R", "irq/24"]);
});
