import { firstIndex } from "../../lib/events/sorted.ts";
import type { Args } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";

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

/** What lay there until then: a part of a mapping, or nothing that was seen. */
interface Former {
  readonly from: number;
  readonly to: number;
  readonly mapping: Mapping | undefined;
  readonly until: Ns;
}

/** So much of what lay there before is known. */
export const FORMER = 1000;

/** What a process has mapped, as far as it was seen: in the order of addresses, and nothing twice. Where changes have a time, what was there before, too. */
export class AddressSpace {
  #mappings: Mapping[] = [];
  /** In the order of their times; of what ended at once, parts of mappings before nothing. */
  readonly #former: Former[] = [];

  /** What was there before gives way. */
  map(mapping: Mapping, when?: Ns): void {
    if (!(mapping.to > mapping.from)) return;
    const at = this.#clear(mapping.from, mapping.to, when);
    this.#mappings.splice(at, 0, mapping);
  }

  unmap(from: number, to: number, when?: Ns): void {
    this.#clear(from, to, when);
  }

  /** What begins at `from` lies at `to` now, and may be longer or shorter. */
  move(from: number, length: number, to: number, newLength: number, when?: Ns): void {
    const { mapping } = this.at(from);
    this.unmap(from, from + length, when);
    if (mapping) this.map({ ...mapping, from: to, to: to + newLength, offset: offsetAt(mapping, from) }, when);
    else this.unmap(to, to + newLength, when);
  }

  copy(): AddressSpace {
    const copy = new AddressSpace();
    copy.#mappings = [...this.#mappings];
    return copy;
  }

  /** What lies at an address, or lay there then, and up to where that is so. */
  at(address: number, when: Ns = Infinity): { readonly mapping: Mapping | undefined; readonly to: number } {
    let end = Infinity;
    for (let i = firstIndex(this.#former, ({ until }) => until > when); i < this.#former.length; i++) {
      const { from, to, mapping } = this.#former[i]!;
      if (from > address) end = Math.min(end, from);
      else if (to > address) return { mapping, to: Math.min(end, to) };
    }
    const next = this.#mappings[this.#firstEndingAfter(address)];
    if (next === undefined) return { mapping: undefined, to: end };
    return next.from <= address ? { mapping: next, to: Math.min(end, next.to) } : { mapping: undefined, to: Math.min(end, next.from) };
  }

  /** Returns the place at which what lies there has to stand. */
  #clear(from: number, to: number, when: Ns | undefined): number {
    const first = this.#firstEndingAfter(from);
    let end = first;
    const left: Mapping[] = [];
    for (; end < this.#mappings.length && this.#mappings[end]!.from < to; end++) {
      const old = this.#mappings[end]!;
      if (when !== undefined) this.#former.push({ from: Math.max(from, old.from), to: Math.min(to, old.to), mapping: old, until: when });
      if (old.from < from) left.push({ ...old, to: from });
      if (old.to > to) left.push({ ...old, from: to, offset: offsetAt(old, to) });
    }
    this.#mappings.splice(first, end - first, ...left);
    if (when !== undefined) this.#former.push({ from, to, mapping: undefined, until: when });
    if (this.#former.length > FORMER) this.#former.splice(0, this.#former.length - FORMER);
    return first + (left[0] !== undefined && left[0].from < from ? 1 : 0);
  }

  #firstEndingAfter(address: number): number {
    return firstIndex(this.#mappings, ({ to }) => to > address);
  }
}
