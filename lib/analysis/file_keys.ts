import { toldApart } from "../events/text.ts";

/** Where a file is told of: its name, and where they are known its device and inode. */
export interface ToldFile {
  readonly file?: unknown;
  readonly dev?: unknown;
  readonly inode?: unknown;
}

/**
 * Tells files of one name apart, such as the `model.safetensors` in each folder of a pipeline. Two files of a name on one device are two; one on each of
 * several devices may be the same, as layers of a container show it.
 */
export class FileKeys {
  readonly #names = new Map<string, string>();

  /** What stands for the file until {@link shown} says how it is called. */
  of({ file, dev, inode }: ToldFile): string {
    const key = dev === undefined ? String(file) : `${dev}:${inode}`;
    const known = this.#names.get(key);
    // A file may be read before its name is told.
    if (known === undefined || known === `inode ${inode}`) this.#names.set(key, String(file));
    return key;
  }

  /** Names by key, with the inode where the name alone could be another's. */
  shown(): Map<string, string> {
    const byName = Map.groupBy(this.#names, ([, name]) => name);
    return new Map([...byName].flatMap(([name, files]) => {
      const devices = files.map(([key]) => key.split(":")[0]);
      const isOne = new Set(devices).size === devices.length;
      return files.map(([key]) => [key, isOne ? name : toldApart(name, key.slice(key.indexOf(":") + 1))] as const);
    }));
  }
}
