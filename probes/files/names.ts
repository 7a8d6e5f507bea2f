import type { Fact } from "../../lib/events/fact.ts";
import type { Event } from "../../lib/events/event.ts";

/** Facts, and records, that name files. */
export const namingFacts = ["mapped", "opened"] as const, namingRecords = ["files/access.open", "files/access.below", "files/access.map"] as const;

/** Device and inode of the file that is opened or mapped; undefined of another event. */
export function fileIn({ record, values }: Event): { readonly dev: number; readonly inode: number } | undefined {
  const at = record === "files/access.open" ? 2 : record === "files/access.map" ? 5 : undefined;
  return at === undefined ? undefined : { dev: values[at] as number, inode: values[at + 1] as number };
}

/** Records carry a file's device and inode; its name comes with its opening or mapping, or as a fact where that was before. */
export class FileNames {
  readonly #names = new Map<string, string>();

  learn(dev: number, inode: number, name: string): void {
    this.#names.set(`${dev}:${inode}`, name);
  }

  /** Device and inode (`8:7`) of the file that the event names; undefined where it is one that names none. */
  see(event: Event): string | undefined {
    const { record, values } = event;
    if (record === "files/access.below") {
      const [dev, inode, openedDev, openedInode] = values as [number, number, number, number];
      this.learn(dev, inode, this.of(openedDev, openedInode));
      return `${dev}:${inode}`;
    }
    const file = fileIn(event);
    if (!file) return undefined;
    this.learn(file.dev, file.inode, values.at(-1) as string);
    return `${file.dev}:${file.inode}`;
  }

  fact(fact: Fact): void {
    if (fact.fact !== "mapped" && fact.fact !== "opened") return;
    for (const { dev, inode, file } of fact.files) this.learn(dev, inode, file);
  }

  knows(dev: number, inode: number): boolean {
    return this.#names.has(`${dev}:${inode}`);
  }

  of(dev: number, inode: number): string {
    return this.#names.get(`${dev}:${inode}`) ?? `inode ${inode}`;
  }
}
