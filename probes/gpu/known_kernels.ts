import { kernelName } from "./kernel_name.ts";
import { isCut, joined } from "./long_name.ts";
import { hex } from "./said.ts";

/**
 * How a compiler calls a function that launches a kernel: nvcc with the whole symbol of the kernel behind it (`__device_stub__Z5scalePf`), clang within its
 * name (`ns::__device_stub__scale`).
 */
const STUB = /\b__device_stub_(?:(?=_Z)|_?)/;

/** What lies at an address of a program. */
interface Code {
  readonly name: string;
  /** The kernel that it launches, by its name. */
  readonly launches: string | null;
}

/** What kernels are called, by what a process knows them by: an address in its code, or a handle. */
export class KnownKernels {
  /** By process and kernel: what it was called by somebody who made it or launched it. */
  readonly #names = new Map<string, string>();
  /** By process and address: what lies there. */
  readonly #code = new Map<string, Code>();
  /** Names of which the last piece was full, as far as they were told. */
  readonly #long = new Map<string, string>();
  /** By process and address: kernels that are launched there. */
  readonly #launched = new Map<string, number[]>();

  /** `changed`: is told of a process whose kernels have other names than before. */
  constructor(readonly changed: (pid: number) => void) {}

  /** `within`: what the driver was asked to launch for it, if that was seen. */
  of(pid: number, kernel: number, within: string | undefined): string {
    const key = `${pid} ${kernel}`;
    if (within !== undefined && !within.startsWith("0x")) this.#names.set(key, within);
    return this.#known(key) ?? hex(kernel);
  }

  /** A name, or the first piece of one. */
  named(pid: number, kernel: number, piece: string): void {
    this.#told(pid, kernel, piece);
  }

  /** The next piece. */
  more(pid: number, kernel: number, piece: string): void {
    const before = this.#long.get(`${pid} ${kernel}`);
    if (before !== undefined) this.#told(pid, kernel, joined(before, piece));
  }

  /** What lies at an address: a kernel's function, a constant of its name, or what launches one. */
  called(pid: number, address: number, symbol: string): void {
    const name = kernelName(symbol), code = { name, launches: STUB.test(name) ? kernelName(name.replace(STUB, "")) : null };
    this.#code.set(`${pid} ${address}`, code);
    this.changed(pid);
    for (const launched of this.#launched.get(`${pid} ${address}`) ?? []) this.#launchedBy(pid, launched, code);
  }

  /** One that is known by a handle, by a call that returns to this address. */
  launchedFrom(pid: number, kernel: number, address: number): void {
    const key = `${pid} ${address}`, code = this.#code.get(key), launched = this.#launched.get(key);
    if (launched) launched.push(kernel);
    else this.#launched.set(key, [kernel]);
    if (code) this.#launchedBy(pid, kernel, code);
  }

  /** One that is known by another one, too. */
  alike(pid: number, kernel: number, other: number): void {
    const name = this.#known(`${pid} ${other}`);
    if (name !== undefined) this.#set(pid, kernel, name);
  }

  /** What is made and launched from now on is not seen: a handle may come to mean another kernel. What lies where stays, and is told once. */
  interrupt(): void {
    for (const known of [this.#names, this.#long, this.#launched]) known.clear();
  }

  /** A process has ended, or runs another program. */
  forget(pid: number): void {
    for (const known of [this.#names, this.#code, this.#long, this.#launched]) {
      for (const key of known.keys()) if (key.startsWith(`${pid} `)) known.delete(key);
    }
  }

  #told(pid: number, kernel: number, name: string): void {
    if (name !== "") this.#set(pid, kernel, kernelName(name));
    if (isCut(name)) this.#long.set(`${pid} ${kernel}`, name);
    else this.#long.delete(`${pid} ${kernel}`);
  }

  /** Optimized, the stub of a kernel may have become a part of what calls it. What the driver calls the kernel is better known. */
  #launchedBy(pid: number, kernel: number, { name, launches }: Code): void {
    if (this.#names.has(`${pid} ${kernel}`)) return;
    if (launches !== null) this.#set(pid, kernel, launches);
    else if (!name.startsWith("__cuda")) this.#set(pid, kernel, `launched by ${name}`);
  }

  #known(key: string): string | undefined {
    const code = this.#code.get(key);
    return this.#names.get(key) ?? code?.launches ?? code?.name;
  }

  #set(pid: number, kernel: number, name: string): void {
    this.#names.set(`${pid} ${kernel}`, name);
    this.changed(pid);
  }
}
