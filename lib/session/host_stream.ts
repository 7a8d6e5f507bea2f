import type { Fact } from "../events/fact.ts";
import { beatLine, factLine, hostSchema } from "../timeline/host.ts";
import type { Pseudonyms } from "../timeline/pseudonyms.ts";
import type { StreamWriter } from "../timeline/recording.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { HostClock } from "./clock.ts";
import { Tap } from "./tap.ts";

const BEAT_MS = 200;
const encoder = new TextEncoder();

/**
 * llmprof's own stream: what it read and did, with a heartbeat like every other. Each heartbeat lets go what the other streams have brought, and
 * `flush` puts it on the disk: if llmprof is killed, a trace lacks no more than the reader's longest pause and two heartbeats.
 */
export class HostStream {
  readonly #tap = new Tap(() => 0);
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(readonly clock: HostClock, timeline: Timeline, writer: StreamWriter | null, flush: () => void, readonly pseudonyms?: Pseudonyms) {
    this.#tap.connect(timeline.add(hostSchema), writer);
    this.#timer = setInterval(() => {
      this.#tap.write(encoder.encode(beatLine(clock.boottime())));
      flush();
    }, BEAT_MS);
  }

  fact(fact: Fact): void {
    this.#tap.write(encoder.encode(factLine(this.pseudonyms?.fact(fact) ?? fact, this.clock.boottime())));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#tap.close();
  }
}
