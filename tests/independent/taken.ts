import { join } from "node:path";
import { ownName } from "../harness/temporary.ts";

const FOLDER = join("/sys/kernel/tracing/instances", `${ownName}-switches`);

/** Switches of threads of one name, as ftrace has them, which is no BPF program. */
export interface TakenProcessors extends Disposable {
  /** Nanoseconds off its processor, of each time that `thread` was ready to run and `taker` came in its place, if it left and came back in that window. */
  by(taker: number, thread: number, window: { readonly from: number; readonly to: number }): number;
}

/** From now on. `name`: of the threads (comm). */
export function takenProcessors(name: string): TakenProcessors {
  const event = join(FOLDER, "events", "sched", "sched_switch");
  Deno.mkdirSync(FOLDER);
  Deno.writeTextFileSync(join(FOLDER, "trace_clock"), "boot");
  Deno.writeTextFileSync(join(FOLDER, "buffer_size_kb"), "4096");
  Deno.writeTextFileSync(join(event, "filter"), `prev_comm == "${name}" || next_comm == "${name}"`);
  Deno.writeTextFileSync(join(event, "enable"), "1");
  return {
    by(taker, thread, { from, to }) {
      let ns = 0, left: number | null = null;
      const line = /\s(\d+)\.(\d+): sched_switch: .*prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+) /g;
      for (const [, seconds, micros, prev, state, next] of Deno.readTextFileSync(join(FOLDER, "trace")).matchAll(line)) {
        const at = Number(seconds) * 1e9 + Number(micros) * 1e3;
        if (Number(prev) === thread) left = state!.startsWith("R") && Number(next) === taker && at >= from ? at : null;
        else if (Number(next) === thread && left !== null && at <= to) ns += at - left;
      }
      return ns;
    },
    [Symbol.dispose]() {
      Deno.writeTextFileSync(join(event, "enable"), "0");
      Deno.removeSync(FOLDER);
    },
  };
}
