import { lastPart } from "../events/text.ts";

/** Mapped where the kernel put it, and no file. */
const MAPPED = /^\[(?:uprobes|vdso|vsyscall|heap|stack)\]$/;
/** What drives a GPU, or computes with one for others; OpenMP of GCC, LLVM and Intel. Python's packages have copies, `libgomp-a34b3233.so.1.0.0`. */
const LIBRARY = /^lib(?:cuda|cublas|cublasLt|cudnn\w*|nccl|amdhip64|vulkan|ze_loader|[gi]?omp\d*)(?:-[\da-f]{8})?\.so(?:\.\d+)*$/;
/** Nodes of GPUs, by numbers of drivers, and those that all have in common. */
const GPU_NODE = /^\/dev\/(?:\S+\/)?(?:nvidia(?:\d+|ctl|-uvm(?:-tools)?|-modeset|-nvlink|-cap\d+)|renderD\d+|card\d+|kfd)$/;
/** Threads of the kernel that work on a processor for whoever uses it: `kworker/u8:2`, `migration/3`, `irq/24-nvme0q1`. */
const KERNEL_THREADS = [
  /^(?:kworker\/(?:u?\d+:\d|R-)|irq\/\d+-)\S*$/,
  /^(?:ksoftirqd\/|idle_inject\/|migration\/|kswapd|kcompactd)\d+$/,
  /^(?:khugepaged|rcu_(?:sched|bh|preempt|\w*gp|tasks\w*|exp_[\w/]*))$/,
];

/** Whether a file's name is the system's or a driver's: it is called so on every machine, tells nothing of a user, and says what it does. */
export function isSystemsFile(path: string): boolean {
  return MAPPED.test(path) || LIBRARY.test(lastPart(path)) || GPU_NODE.test(path);
}

/** The same of what a thread calls itself. */
export function isSystemsThread(name: string): boolean {
  return KERNEL_THREADS.some((pattern) => pattern.test(name));
}
