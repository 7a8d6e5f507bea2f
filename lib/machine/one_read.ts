import type { KernelFiles } from "./files.ts";

/** Files that are asked for at the same moment, by whomever, are read in one go: a look at the machine is paid for by the read. */
export class OneRead implements Pick<KernelFiles, "texts" | "list"> {
  #asked: { readonly paths: readonly string[]; readonly found: PromiseWithResolvers<(string | null)[]> }[] = [];

  constructor(readonly files: Pick<KernelFiles, "texts" | "list">) {}

  /** Seldom asked for, and at once. */
  list(dir: string): Promise<string[]> {
    return this.files.list(dir);
  }

  texts(paths: readonly string[]): Promise<(string | null)[]> {
    const found = Promise.withResolvers<(string | null)[]>();
    if (this.#asked.push({ paths, found }) === 1) queueMicrotask(() => void this.#read());
    return found.promise;
  }

  async #read(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    try {
      const texts = await this.files.texts(asked.flatMap(({ paths }) => paths));
      let from = 0;
      for (const { paths, found } of asked) found.resolve(texts.slice(from, from += paths.length));
    } catch (error) {
      for (const { found } of asked) found.reject(error);
    }
  }
}
