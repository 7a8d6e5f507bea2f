import assert from "node:assert/strict";
import { isSystemsFile, isSystemsThread } from "./system_names.ts";

Deno.test("system names: what the kernel maps, what drives a GPU, OpenMP and nodes of GPUs, and no file of somebody's own that is called so", () => {
  const mapped = ["[uprobes]", "/usr/lib/libcuda.so.1", "libcudnn_ops.so.9", "libgomp.so.1", "libgomp-a34b3233.so.1.0.0", "libiomp5.so"];
  const nodes = ["nvidia0", "nvidiactl", "nvidia-uvm", "dri/renderD128", "dri/card0", "kfd", "nvidia-caps/nvidia-cap1"].map((node) => `/dev/${node}`);
  assert.deepEqual([...mapped, ...nodes].filter((path) => !isSystemsFile(path)), []);
  const own = ["[geheim]", "libcuda-geheim.so", "libgomp.so.geheim", "libcudageheim.so.1", "/home/x/nvidia0", "card0", "/dev/dri/by-path/pci-0"];
  assert.deepEqual(own.filter(isSystemsFile), []);
});

Deno.test("system names: threads of the kernel that work for others, and no program of somebody's own that is called like one", () => {
  const systems = ["kworker/0:1", "kworker/u8:2", "kworker/R-xfs", "ksoftirqd/3", "migration/0", "kswapd0", "kcompactd0", "rcu_preempt"];
  assert.deepEqual(
    [...systems, "khugepaged", "rcu_tasks_kthre", "rcu_exp_par_gp_kthread_worker/0", "irq/24-nvme0q1", "idle_inject/1"].filter((name) =>
      !isSystemsThread(name)
    ),
    [],
  );
  assert.deepEqual(["kworker", "migration", "migration/geheim", "kworker/0:1 geheim", "irq", "python"].filter(isSystemsThread), []);
});
