import { firstIndex } from "../../lib/events/sorted.ts";
import type { Args } from "../../lib/events/span.ts";

/** A range of a process's addresses that belongs to one file, or to none. */
export interface Mapping {
  readonly from: number;
  readonly to: number;
  /** Where in the file it begins. */
  readonly offset: number;
  /** Absent: memory that is no file. */
  readonly file?: MappedFile;
}

export interface MappedFile {
  /** Device and inode. */
  readonly id: string;
  /** Without its folders. */
  readonly name: string;
}

/** As spans tell of it. */
export function argsOf({ id, name }: MappedFile): Args {
  const [dev, inode] = id.split(":").map(Number) as [number, number];
  return { file: name, dev, inode };
}

/** The place in the file that lies at an address of a mapping. */
export function offsetAt({ from, offset }: Mapping, address: number): number {
  return address - from + offset;
}

/** What a process has mapped, as far as it was seen: in the order of addresses, and nothing twice. */
export class AddressSpace {
  #mappings: Mapping[] = [];

  /** What was there before gives way. */
  map(mapping: Mapping): void {
    if (!(mapping.to > mapping.from)) return;
    const at = this.#clear(mapping.from, mapping.to);
    this.#mappings.splice(at, 0, mapping);
  }

  unmap(from: number, to: number): void {
    this.#clear(from, to);
  }

  /** What begins at `from` lies at `to` now, and may be longer or shorter. */
  move(from: number, length: number, to: number, newLength: number): void {
    const { mapping } = this.at(from);
    this.unmap(from, from + length);
    if (mapping) this.map({ ...mapping, from: to, to: to + newLength, offset: offsetAt(mapping, from) });
    else this.unmap(to, to + newLength);
  }

  copy(): AddressSpace {
    const copy = new AddressSpace();
    copy.#mappings = [...this.#mappings];
    return copy;
  }

  /** What lies at an address, and up to where that is so. */
  at(address: number): { readonly mapping: Mapping | undefined; readonly to: number } {
    const next = this.#mappings[this.#firstEndingAfter(address)];
    if (next === undefined) return { mapping: undefined, to: Infinity };
    return next.from <= address ? { mapping: next, to: next.to } : { mapping: undefined, to: next.from };
  }

  /** Returns the place at which what lies there has to stand. */
  #clear(from: number, to: number): number {
    const first = this.#firstEndingAfter(from);
    let end = first;
    const left: Mapping[] = [];
    for (; end < this.#mappings.length && this.#mappings[end]!.from < to; end++) {
      const old = this.#mappings[end]!;
      if (old.from < from) left.push({ ...old, to: from });
      if (old.to > to) left.push({ ...old, from: to, offset: offsetAt(old, to) });
    }
    this.#mappings.splice(first, end - first, ...left);
    return first + (left[0] !== undefined && left[0].from < from ? 1 : 0);
  }

  #firstEndingAfter(address: number): number {
    return firstIndex(this.#mappings, ({ to }) => to > address);
  }
}
