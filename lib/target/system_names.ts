import { lastPart } from "../events/text.ts";

/** Mapped where the kernel put it, and no file. */
const MAPPED = /^\[(?:uprobes|vdso|vsyscall|heap|stack)\]$/;
/** Python's packages have copies, `libgomp-a34b3233.so.1.0.0`. */
const LIBRARY_END = "(?:-[\\da-f]{8})?\\.so(?:\\.\\d+)*$";
const CUDNN = "cudnn(?:_(?:ops|cnn|adv|graph|heuristic|ext|engines_(?:precompiled|runtime_compiled|tensor_ir))(?:_infer|_train)?)?";
const GPU_LIBRARY = new RegExp(
  `^lib(?:cuda|cudart|cublas|cublasLt|${CUDNN}|nccl(?:-(?:net|tuner|profiler))?|amdhip64|vulkan|ze_loader|nvinfer)${LIBRARY_END}`,
);
const OPENMP = new RegExp(`^lib[gi]?omp\\d*${LIBRARY_END}`);
const NUMBERED_NODE = /^(?:nvidia|renderD|card)\d+$/;
const COMMON_NODE = /^(?:nvidia(?:ctl|-uvm(?:-tools)?|-modeset|-nvlink|-nvswitch(?:ctl|\d+)|-cap\d+|-fs\d+)|kfd)$/;
/**
 * What a thread of the kernel that works on a processor for whoever uses it is called, up to what it works on just now: `irq/24`, of `irq/24-nvme0q1`.
 */
const KERNEL_THREADS = [
  /^kworker\/(?:u?\d+:\d+H?|R|dying)(?=[-+]|$)/,
  /^irq\/\d+(?=-|$)/,
  /^(?:ksoftirqd\/|idle_inject\/|migration\/|kswapd|kcompactd)\d+$/,
  // Whole, or as much as fits into 15 letters.
  /^(?:khugepaged|rcu_(?:sched|bh|preempt|(?:par_)?gp|tasks_(?:kthre(?:ad)?|rude_(?:kthread)?|trace(?:_kthread)?)))$/,
  /^rcu_exp_(?:gp_kthr(?:ead_worker)?|par_gp_(?:kthread_worker\/\d+)?)$/,
];

/** Whether a file's name is the system's or a driver's: it is called so on every machine, tells nothing of a user, and says what it does. */
export function isSystemsFile(path: string): boolean {
  const name = lastPart(path);
  return MAPPED.test(path) || isGpuLibrary(name) || isOpenMp(name) || (path.startsWith("/dev/") && (isNumberedNode(name) || isCommonNode(name)));
}

/** What drives a GPU, or computes with it for others. */
export function isGpuLibrary(name: string): boolean {
  return GPU_LIBRARY.test(name);
}

/** GCC's, LLVM's and Intel's. */
export function isOpenMp(name: string): boolean {
  return OPENMP.test(name);
}

/** Of a device's file by its name: a node of one GPU. Of a kind, each number is one. */
export function isNumberedNode(name: string): boolean {
  return NUMBERED_NODE.test(name);
}

/** A node that all GPUs have in common. */
export function isCommonNode(name: string): boolean {
  return COMMON_NODE.test(name);
}

/** Of a thread's name what says that it is the kernel's; undefined of others. */
export function kernelThread(name: string): string | undefined {
  return KERNEL_THREADS.map((pattern) => pattern.exec(name)?.[0]).find((part) => part !== undefined);
}
