/** Which GPU a thread works with: the last that it chose, or the one of the context that it works in. */
export class Devices {
  /** By process and context. */
  readonly #ofContext = new Map<string, number>();
  readonly #current = new Map<string, number>();
  /** By thread: those before, which come back as contexts are popped. */
  readonly #before = new Map<string, number[]>();

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
      if (/CtxCreate$/.test(name)) this.#push(thread, device);
    } else if (device !== undefined && /SetDevice$|InitDevice$/.test(name)) this.#current.set(thread, device);
    else if (/PopCurrent$/.test(name)) this.#current.set(thread, this.#before.get(thread)?.pop() ?? 0);
    else if (context !== undefined && /SetCurrent$|PushCurrent$/.test(name)) {
      const known = this.#ofContext.get(`${pid} ${context}`) ?? this.#current.get(thread) ?? 0;
      if (name.endsWith("SetCurrent")) this.#current.set(thread, known);
      else this.#push(thread, known);
    }
  }

  #push(thread: string, device: number): void {
    const before = this.#before.get(thread);
    if (before) before.push(this.#current.get(thread) ?? 0);
    else this.#before.set(thread, [this.#current.get(thread) ?? 0]);
    this.#current.set(thread, device);
  }

  forget(pid: number): void {
    for (const known of [this.#ofContext, this.#current, this.#before]) {
      for (const key of known.keys()) if (key.startsWith(`${pid} `)) known.delete(key);
    }
  }
}
