import { unpack } from "../timeline/packed_recording.ts";
import recording from "./demo/recording.txt" with { type: "text" };
import { realThing } from "./real_thing.ts";
import { beginReplay, type ReplayOptions, replaySource } from "./replay.ts";
import type { Context } from "./terminal.ts";

/** A real run of llama.cpp, replayed from inside llmprof on the path that every recording takes. */
export async function demo(options: ReplayOptions, context: Context): Promise<number> {
  await beginReplay(context);
  const say = (text: string) => options.quiet || context.terminal.err(text);
  say("Replaying a recording of llama.cpp, made by tests/demo/record.ts: nothing is traced on this machine.\n");
  say(realThing);
  return await replaySource(await unpack("the demo's recording", recording), options, context);
}
