/** Records carry a file's device and inode; its name comes with its opening or mapping. */
export class FileNames {
  readonly #names = new Map<string, string>();

  /** Returns the name as it is shown. */
  learn(dev: number, inode: number, name: string): string {
    const shown = shortened(name);
    this.#names.set(`${dev}:${inode}`, shown);
    return shown;
  }

  of(dev: number, inode: number): string {
    return this.#names.get(`${dev}:${inode}`) ?? `inode ${inode}`;
  }
}

const encoder = new TextEncoder();

/** A program sends at most 64 bytes of a name: one that fills them may have had more. */
export function shortened(name: string): string {
  return encoder.encode(name).length >= 64 ? `${name}…` : name;
}
