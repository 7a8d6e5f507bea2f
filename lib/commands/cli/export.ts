import { Command } from "@commander-js/extra-typings";
import type { Context } from "../terminal.ts";
import type { Pseudonyms } from "../../timeline/pseudonyms.ts";
import { redacting } from "../redacting.ts";
import { outputPaths } from "./output_paths.ts";
import { collect, parseCount } from "./parse.ts";
import { type Done, explained, option } from "./setting.ts";

export function exportCommand(context: Context, done: Done): Command {
  const command = new Command("export")
    .description("Turns a recording into a trace: what the live run would have written. Needs no root and starts no program.")
    .usage("PATH.llmprof [options]")
    .argument("<recording>", "folder that -o NAME.llmprof wrote")
    .addOption(option("-o, --output <PATH>", "trace, format by extension; repeatable", "output").argParser(collect))
    .addOption(option("--no-output", "write no file", "output"))
    .addOption(option("--summary <FORMAT>", "also print the summary", "output").choices(["text", "json"] as const))
    .addOption(option("--redact", "arguments, paths outside the model and names of threads become argument-1, path-1, name-1 …", "output"))
    .addOption(option("--max-loss <EVENTS>", "exit 4 when more events were lost", "output").argParser(parseCount(0)))
    .addOption(option("--quiet", "no progress"))
    .addOption(option("--verbose", "causes and stacks of failures"))
    .action(async (path, o) => {
      const paths = outputPaths("export", o.output as string[] | false | undefined, context);
      const { replayRecording } = await import("../replay.ts");
      const options = { ...o, quiet: o.quiet === true, ...paths };
      const replay = (pseudonyms?: Pseudonyms) => replayRecording(path, { ...options, pseudonyms }, context);
      done(await redacting(o.redact === true, [], [path, ...paths.outputs], context, replay));
    });
  return explained(command as unknown as Command);
}
