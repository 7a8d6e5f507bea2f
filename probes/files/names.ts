/** Records carry a file's device and inode; its name comes with its opening or mapping. */
export class FileNames {
  readonly #names = new Map<string, string>();

  learn(dev: number, inode: number, name: string): void {
    this.#names.set(`${dev}:${inode}`, name);
  }

  knows(dev: number, inode: number): boolean {
    return this.#names.has(`${dev}:${inode}`);
  }

  of(dev: number, inode: number): string {
    return this.#names.get(`${dev}:${inode}`) ?? `inode ${inode}`;
  }
}
