import type { Code } from "../process/code.ts";

/** Memory that the CPU reads as it is, and who computes there. */
export const HOST = "host", CPU = "CPU";

/** What people call the devices of a library, by the middle of its name: `libggml-vulkan.so`. Functions of the host's memory are in the library that all share. */
const KINDS: Readonly<Record<string, string>> = {
  base: HOST,
  cpu: CPU,
  blas: "BLAS",
  cann: "CANN",
  cuda: "CUDA",
  hip: "ROCm",
  metal: "Metal",
  musa: "MUSA",
  opencl: "OpenCL",
  rpc: "RPC",
  sycl: "SYCL",
  vulkan: "Vulkan",
  webgpu: "WebGPU",
};

/** What kind of device a function belongs to. */
function kindOf(code: Code | null): string {
  const word = /^libggml-([a-z]+)/.exec(code?.file ?? "")?.[1];
  return word === undefined ? "unknown device" : KINDS[word] ?? word;
}

/** The scheduler calls a copy after the backend that it is for, the tensor, and which of several copies it is: `Vulkan0#l_out-3#0`. */
const COPY = /^([^#]+)#(.*)#\d+$/;

/** What a tensor is a copy of: itself, if it is none. */
export function withoutPrefix(name: string): string {
  return COPY.exec(name)?.[2] ?? name;
}

/**
 * Names of devices. Which kind one is, its code tells; which of several of a kind, the copies that are made before it computes: their names begin with
 * that of the device that they are for.
 */
export class Devices {
  /** By process and address of the backend. */
  readonly #names = new Map<string, string>();
  /** By thread: for whom copies were made since the last part of a graph. */
  readonly #copiedFor = new Map<number, string>();

  constructor(readonly find: (pid: number, address: number) => Code | null) {}

  /** Of the backend that computes now. */
  ofSplit(pid: number, tid: number, backend: number, code: number): string {
    const kind = kindOf(this.find(pid, code));
    const name = this.#copiedFor.get(tid);
    this.#copiedFor.delete(tid);
    if (kind !== CPU && name?.startsWith(kind)) this.#names.set(`${pid} ${backend}`, name);
    return this.of(pid, backend, code);
  }

  of(pid: number, backend: number, code: number): string {
    return this.#names.get(`${pid} ${backend}`) ?? kindOf(this.find(pid, code));
  }

  /** Whether such a device has a function of its own for copies. */
  copiesItself(pid: number, code: number): boolean {
    return ["Vulkan", "CUDA", "ROCm", "MUSA", "SYCL", "CANN"].includes(kindOf(this.find(pid, code)));
  }

  /** Of the buffer in which a tensor of this name lies. */
  ofBuffer(pid: number, tid: number, code: number, tensor: string): string {
    const kind = kindOf(this.find(pid, code));
    const name = COPY.exec(tensor)?.[1];
    if (name !== undefined) this.#copiedFor.set(tid, name);
    if (kind === HOST) return HOST;
    if (name?.startsWith(kind)) return name;
    // Where the process has one of the kind.
    const known = new Set([...this.#names].filter(([key, name]) => key.startsWith(`${pid} `) && name.startsWith(kind)).map(([, name]) => name));
    return known.size === 1 ? [...known][0]! : kind;
  }
}
