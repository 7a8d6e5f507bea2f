import type { Code } from "../process/code.ts";

/** Memory that the CPU reads as it is, and who computes there. */
export const HOST = "host", CPU = "CPU";

interface Library {
  /** What people call its devices. */
  readonly kind: string;
  /** What its functions are called after, where it has one for copies of its own. */
  readonly copies?: string;
}

/** By the middle of the library's name: `libggml-vulkan.so`. Functions of the host's memory are in the library that all share. */
export const LIBRARIES: Readonly<Record<string, Library>> = {
  base: { kind: HOST },
  cpu: { kind: CPU },
  blas: { kind: "BLAS" },
  cann: { kind: "CANN", copies: "cann" },
  cuda: { kind: "CUDA", copies: "cuda" },
  hip: { kind: "ROCm", copies: "cuda" },
  metal: { kind: "Metal" },
  musa: { kind: "MUSA", copies: "cuda" },
  opencl: { kind: "OpenCL" },
  rpc: { kind: "RPC" },
  // It has a function for copies, which nobody asks: its table names none.
  sycl: { kind: "SYCL" },
  vulkan: { kind: "Vulkan", copies: "vk" },
  webgpu: { kind: "WebGPU" },
};

/** The library that a function is in. */
function libraryOf(code: Code | null): Library {
  const word = /^libggml-([a-z]+)/.exec(code?.file ?? "")?.[1];
  return word === undefined ? { kind: "unknown device" } : LIBRARIES[word] ?? { kind: word };
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
    const { kind } = libraryOf(this.find(pid, code));
    const name = this.#copiedFor.get(tid);
    this.#copiedFor.delete(tid);
    if (kind !== CPU && name?.startsWith(kind)) this.#names.set(`${pid} ${backend}`, name);
    return this.of(pid, backend, code);
  }

  of(pid: number, backend: number, code: number): string {
    return this.#names.get(`${pid} ${backend}`) ?? libraryOf(this.find(pid, code)).kind;
  }

  /** Whether such a device has a function of its own for copies. */
  copiesItself(pid: number, code: number): boolean {
    return libraryOf(this.find(pid, code)).copies !== undefined;
  }

  /** Of the buffer in which a tensor of this name lies. */
  ofBuffer(pid: number, tid: number, code: number, tensor: string): string {
    const { kind } = libraryOf(this.find(pid, code));
    const name = COPY.exec(tensor)?.[1];
    if (name !== undefined) this.#copiedFor.set(tid, name);
    if (kind === HOST) return HOST;
    if (name?.startsWith(kind)) return name;
    // Where the process has one of the kind.
    const known = new Set([...this.#names].filter(([key, name]) => key.startsWith(`${pid} `) && name.startsWith(kind)).map(([, name]) => name));
    return known.size === 1 ? [...known][0]! : kind;
  }
}
