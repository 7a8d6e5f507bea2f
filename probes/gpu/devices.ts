/** Which GPU a thread works with: the last that it chose, or the one of the context that it works in. */
export class Devices {
  /** By process and context. */
  readonly #ofContext = new Map<string, number>();
  readonly #current = new Map<string, number>();

  /** 0 where nothing was said. */
  of(pid: number, tid: number): number {
    return this.#current.get(`${pid} ${tid}`) ?? 0;
  }

  /** A call by which a thread chooses, which was done. */
  context(name: string, said: ReadonlyMap<string, number>, pid: number, tid: number): void {
    const device = said.get("device"), context = said.get("context");
    const thread = `${pid} ${tid}`;
    if (device !== undefined && context !== undefined) {
      this.#ofContext.set(`${pid} ${context}`, device);
      if (/CtxCreate$/.test(name)) this.#current.set(thread, device);
    } else if (device !== undefined && /SetDevice$|InitDevice$/.test(name)) this.#current.set(thread, device);
    else if (context !== undefined && /SetCurrent$|PushCurrent$/.test(name)) {
      const known = this.#ofContext.get(`${pid} ${context}`);
      if (known !== undefined) this.#current.set(thread, known);
    }
  }

  forget(pid: number): void {
    for (const known of [this.#ofContext, this.#current]) for (const key of known.keys()) if (key.startsWith(`${pid} `)) known.delete(key);
  }
}
