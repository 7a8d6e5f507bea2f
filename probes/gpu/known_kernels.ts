import { kernelName } from "./kernel_name.ts";
import { hex } from "./said.ts";

/** What kernels are called, by what a process knows them by: an address in its code, or a handle. */
export class KnownKernels {
  /** By process and kernel. */
  readonly #names = new Map<string, string>();
  /** Names of which the last piece was full, as far as they were told. */
  readonly #long = new Map<string, string>();

  /** `changed`: is told of a process whose kernels have other names than before. */
  constructor(readonly changed: (pid: number) => void) {}

  /** `within`: what the driver was asked to launch for it, if that was seen. */
  of(pid: number, kernel: number, within: string | undefined): string {
    const key = `${pid} ${kernel}`, name = this.#names.get(key);
    if (name !== undefined) return name;
    if (within === undefined || within.startsWith("0x")) return hex(kernel);
    this.#names.set(key, within);
    return within;
  }

  /** A name, or the first piece of one. */
  named(pid: number, kernel: number, piece: string): void {
    this.#piece(pid, kernel, "", piece);
  }

  /** The next piece. */
  more(pid: number, kernel: number, piece: string): void {
    const before = this.#long.get(`${pid} ${kernel}`);
    if (before !== undefined) this.#piece(pid, kernel, before, piece);
  }

  called(pid: number, kernel: number, name: string): void {
    if (name !== "") this.#set(pid, kernel, kernelName(name));
  }

  /** One that is known by another one, too. */
  alike(pid: number, kernel: number, other: number): void {
    const name = this.#names.get(`${pid} ${other}`);
    if (name !== undefined) this.#set(pid, kernel, name);
  }

  #piece(pid: number, kernel: number, before: string, piece: string): void {
    // What fills a record is told as cut off.
    const isCut = piece.endsWith("…"), name = before + piece, key = `${pid} ${kernel}`;
    this.called(pid, kernel, name);
    if (isCut) this.#long.set(key, name.slice(0, -1));
    else this.#long.delete(key);
  }

  #set(pid: number, kernel: number, name: string): void {
    this.#names.set(`${pid} ${kernel}`, name);
    this.changed(pid);
  }
}
