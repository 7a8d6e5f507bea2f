import type { Child } from "../machine/child.ts";
import { parseStat } from "../target/process.ts";
import { GO_ON } from "./going_on.ts";
import type { Means } from "./means.ts";
import { POLL_MS } from "./standing.ts";

const LONGEST_WAIT_MS = 10_000;
/** Another llmprof may need as long as it may, for each of two throws. */
const LONGEST_TURN_MS = 3 * LONGEST_WAIT_MS;
/** A thread that waits for a disk stands behind that, and cannot be about to throw. */
const DISK_PATIENCE_MS = 100;

/** A place on a stack, and what belongs there. */
export interface Hidden {
  /** When it was told, in nanoseconds of the kernel's. */
  readonly at: number;
  readonly place: number;
  readonly address: number;
}

/**
 * Takes its turn among the llmprofs that see to the same process, then asks by a signal that is none. After that, in words on its standard input: `ask`
 * again; `put`, a place in eights of bytes from 0 on and the eight bytes in octal that belong there; `go` on.
 *
 * A turn is a lock on a file of the process's in /proc, which goes with whoever holds it.
 */
const script = `${GO_ON}
pid=$1
if command -v flock > /dev/null && exec 9< "/proc/$pid/comm"; then flock -w 20 9; turn=9; fi
kill -0 "$pid"
while read -r word place bytes; do
  case $word in
    ask) kill -0 "$pid" ;;
    put) printf "$bytes" | dd of="/proc/$pid/mem" bs=8 seek="$place" conv=notrunc status=none || exit ;;
    go)
      go_on "$pid" || exit
      if [ -n "$turn" ]; then flock -u 9; fi ;;
  esac
done`;

/** Whoever answers when it is asked what has been told so far. */
export type Teller = object;

/** A process that throws: what is hidden from it, and how it gets that back. */
export class Throwing {
  #hidden: Hidden[] = [];
  /** When it was last sent on, on the kernel's clock. */
  #wentOn = -Infinity;
  #shell: Child | undefined;
  readonly #answered = new Set<Teller>();

  /**
   * @param tellers Who is to answer before it is known that all has been read that was told before.
   * @param rounds How often each: one that reads several buffers one after another may find the answer in the first, and older words in the next.
   */
  constructor(readonly means: Means, readonly pid: number, readonly tellers: ReadonlySet<Teller>, readonly rounds: number) {}

  hides(hidden: Hidden): void {
    if (hidden.at > this.#wentOn) this.#hidden.push(hidden);
  }

  /** Its stack is another by now. */
  wentOn(at: number): void {
    this.#wentOn = Math.max(this.#wentOn, at);
    this.#hidden = this.#hidden.filter((one) => one.at > at);
  }

  answers(teller: Teller, asker: number): void {
    if (asker === this.#shell?.pid) this.#answered.add(teller);
  }

  /** Nobody has put back what was hidden from it: it stands, or is about to. */
  get waits(): boolean {
    return this.#hidden.length > 0;
  }

  /** Gives it back what was hidden, and lets it go on; false where it may stand yet. */
  async serve(): Promise<boolean> {
    const args = ["-c", script, "sh", String(this.pid)];
    const shell = this.#shell = this.means.spawn({ program: "/bin/sh", args, stdin: "piped", newSession: true });
    let lives = true;
    const ended = shell.status.finally(() => lives = false);
    const writer = shell.stdin!.getWriter();
    const say = (words: string) => writer.write(new TextEncoder().encode(words)).catch(() => {});
    const heard = () => !lives || [...this.tellers].every((teller) => this.#answered.has(teller));
    const allRead = async () => {
      for (let round = 0; round < this.rounds; round++) {
        this.#answered.clear();
        void say("ask\n");
        if (!await this.#until(heard, LONGEST_WAIT_MS) || !lives) return false;
      }
      return true;
    };
    try {
      this.#answered.clear();
      if (!await this.#until(heard, LONGEST_TURN_MS) || !lives) return false;
      let waited = 0;
      while (!await this.#allStand(waited)) {
        // Another llmprof has sent it on.
        if (!this.waits) return true;
        if ((waited += POLL_MS) > LONGEST_WAIT_MS) return false;
        await this.means.sleep(POLL_MS);
      }
      if (!await allRead()) return false;
      if (!this.waits) return true;
      const puts = this.#hidden.splice(0).map(({ place, address }) => `put ${place / 8} ${octal(address)}\n`);
      await say(`${puts.join("")}go\n`);
    } finally {
      await writer.close().catch(() => {});
    }
    return (await ended).code === 0;
  }

  /** Each thread: another one may have been about to throw when this one stopped all of them. */
  async #allStand(waitedMs: number): Promise<boolean> {
    const { files } = this.means;
    const tids = await files.list(`/proc/${this.pid}/task`);
    const stats = await files.texts(tids.map((tid) => `/proc/${this.pid}/task/${tid}/stat`));
    const resting = waitedMs < DISK_PATIENCE_MS ? "TtZX" : "TtZXD";
    return stats.every((text) => text === null || resting.includes(parseStat(text)?.state ?? "X"));
  }

  async #until(isSo: () => boolean, longestMs: number): Promise<boolean> {
    for (let waited = 0; waited < longestMs; waited += POLL_MS) {
      if (isSo()) return true;
      await this.means.sleep(POLL_MS);
    }
    return false;
  }
}

/** Eight bytes, the lowest first, as printf writes them. */
function octal(address: number): string {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(address), true);
  return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
