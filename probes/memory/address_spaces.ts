import type { Event } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { Ns } from "../../lib/events/time.ts";
import { AddressSpace } from "./address_space.ts";

/** What tells {@link AddressSpaces} of mappings, for a decoder that sees it. */
export const MAPPING_RECORDS = [
  "files/access.map",
  "files/access.anonymous",
  "files/access.move",
  "files/access.unmap",
  "process/life.task",
  "process/life.exec",
] as const;

/** PROT_EXEC. */
const EXECUTABLE = 4;

/** What each process has mapped, and had before. A process that is forked has what its parent has, until it begins another program. */
export class AddressSpaces {
  readonly #spaces = new Map<number, AddressSpace>();
  /** Ids of files of which somebody has mapped a part to run it. */
  readonly #code = new Set<string>();

  of(pid: number): AddressSpace {
    let space = this.#spaces.get(pid);
    if (!space) this.#spaces.set(pid, space = new AddressSpace());
    return space;
  }

  /** Whether a program or a library is in the file. */
  isCode(id: string): boolean {
    return this.#code.has(id);
  }

  /** One of {@link MAPPING_RECORDS}; of others nothing is learned. */
  event({ record, at, pid, values }: Event): void {
    switch (record) {
      case "files/access.map": {
        const [, from, length, prot, offset, dev, inode, name] = values as [Ns, number, number, number, number, number, number, string];
        const id = `${dev}:${inode}`;
        if ((prot & EXECUTABLE) !== 0) this.#code.add(id);
        return this.of(pid).map({ from, to: from + length, offset, file: { id, name } }, at);
      }
      case "files/access.anonymous": {
        const [, from, length] = values as [Ns, number, number];
        return this.of(pid).map({ from, to: from + length, offset: 0 }, at);
      }
      case "files/access.move": {
        const [from, length, to, newLength] = values as [number, number, number, number];
        return this.of(pid).move(from, length, to, newLength, at);
      }
      case "files/access.unmap": {
        const [from, length] = values as [number, number];
        return this.of(pid).unmap(from, from + length, at);
      }
      case "process/life.task": {
        const [child, isThread] = values as [number, number];
        return void (isThread || this.#spaces.set(child, this.of(pid).copy()));
      }
      case "process/life.exec":
        return this.of(pid).unmap(0, Infinity, at);
    }
  }

  fact(fact: Fact): void {
    if (fact.fact !== "mapped") return;
    const space = this.of(fact.pid);
    for (const { at, bytes, offset, dev, inode, file, isCode } of fact.files) {
      const id = `${dev}:${inode}`;
      if (isCode) this.#code.add(id);
      space.map({ from: at, to: at + bytes, offset, file: { id, name: file } });
    }
  }
}
