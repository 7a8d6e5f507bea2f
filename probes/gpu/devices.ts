/** Where what a thread asks for is: on a GPU, in a context that the program made there itself, or in the one that all others share (`own`: undefined). */
export interface Place {
  readonly device: number;
  readonly own: number | undefined;
}

/** Where nothing was said. */
const FIRST: Place = { device: 0, own: undefined };

/** Which GPU a thread works with: the last that it chose, or the one of the context that it works in. */
export class Devices {
  /** By process and context. */
  readonly #ofContext = new Map<string, Place>();
  /** By process and handle. */
  readonly #ofHandle = new Map<string, Place>();
  readonly #current = new Map<string, Place>();
  /** By thread: those before, which come back as contexts are popped. */
  readonly #before = new Map<string, Place[]>();

  of(pid: number, tid: number): Place {
    return this.#current.get(`${pid} ${tid}`) ?? FIRST;
  }

  /** Where all is that is asked of a GPU by its handle. They have no numbers there: this is the order in which a process uses them. */
  named(pid: number, handle: number): Place {
    const key = `${pid} ${handle}`, known = this.#ofHandle.get(key);
    if (known) return known;
    const place = { device: this.#ofHandle.keys().filter((key) => key.startsWith(`${pid} `)).toArray().length, own: handle };
    this.#ofHandle.set(key, place);
    return place;
  }

  /** A call by which a thread chooses, which was done. Returns what is gone with all that it held. */
  context(name: string, said: ReadonlyMap<string, number>, pid: number, tid: number): Place | undefined {
    const device = said.get("device"), context = said.get("context");
    const thread = `${pid} ${tid}`;
    if (/DeviceReset$|ThreadExit$/.test(name)) {
      const { device, own } = this.of(pid, tid);
      // Of a context of the program's own CUDA's runtime forgets what it knew, and that is all; HIP resets the GPU.
      return own === undefined || name.startsWith("hip") ? { device, own: undefined } : undefined;
    }
    if (device !== undefined && name.endsWith("PrimaryCtxReset")) return { device, own: undefined };
    if (device !== undefined && context !== undefined) {
      const isOwn = /CtxCreate$/.test(name), place = { device, own: isOwn ? context : undefined };
      this.#ofContext.set(`${pid} ${context}`, place);
      if (isOwn) this.#push(thread, place);
    } else if (device !== undefined && /SetDevice$/.test(name)) this.#current.set(thread, { device, own: undefined });
    else if (/PopCurrent$/.test(name)) this.#pop(thread);
    else if (context !== undefined && /SetCurrent$|PushCurrent$/.test(name)) {
      const known = this.#ofContext.get(`${pid} ${context}`) ?? this.of(pid, tid);
      if (name.endsWith("SetCurrent")) this.#current.set(thread, known);
      else this.#push(thread, known);
    } else if (context !== undefined && /CtxDestroy$|CtxDetach$/.test(name)) {
      const gone = this.#ofContext.get(`${pid} ${context}`);
      this.#ofContext.delete(`${pid} ${context}`);
      if (gone !== undefined && this.#current.get(thread) === gone) this.#pop(thread);
      return gone;
    }
    return undefined;
  }

  #push(thread: string, place: Place): void {
    const now = this.#current.get(thread) ?? FIRST, before = this.#before.get(thread);
    if (before) before.push(now);
    else this.#before.set(thread, [now]);
    this.#current.set(thread, place);
  }

  #pop(thread: string): void {
    this.#current.set(thread, this.#before.get(thread)?.pop() ?? FIRST);
  }

  forget(pid: number): void {
    for (const known of [this.#ofContext, this.#ofHandle, this.#current, this.#before]) {
      for (const key of known.keys()) if (key.startsWith(`${pid} `)) known.delete(key);
    }
  }
}

export function isSame(a: Place, b: Place): boolean {
  return a.device === b.device && a.own === b.own;
}
