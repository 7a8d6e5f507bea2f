import type { Track } from "./span.ts";

/** Makes each track once. Ids follow the order of first use, which follows the events: a replay gives the same numbers. */
export class Tracks {
  readonly #byKey = new Map<string, Track>();

  /** The row of llmprof itself: windows, marks, what it did. */
  run(): Track {
    return this.#get("run", { kind: "run", name: "llmprof", pid: 0 });
  }

  process(pid: number): Track {
    return this.#get(`p${pid}`, { kind: "process", name: `process ${pid}`, pid });
  }

  thread(pid: number, tid: number): Track {
    return this.#get(`t${pid}/${tid}`, { kind: "thread", name: tid === pid ? "main" : `thread ${tid}`, pid, tid });
  }

  lane(pid: number, name: string, rank = 0): Track {
    return this.#get(`l${pid}/${name}`, { kind: "lane", name, pid, rank });
  }

  counter(pid: number, name: string, unit: string, more: Pick<Track, "file" | "group"> = {}): Track {
    return this.#get(`c${pid}/${name}`, { kind: "counter", name, pid, unit, ...more });
  }

  #get(key: string, track: Omit<Track, "id">): Track {
    let found = this.#byKey.get(key);
    if (!found) {
      found = { id: this.#byKey.size + 1, ...track };
      this.#byKey.set(key, found);
    }
    return found;
  }
}
