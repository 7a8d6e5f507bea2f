import { Command } from "@commander-js/extra-typings";
import type { Context } from "../terminal.ts";
import { outputPaths } from "./output_paths.ts";
import { collect } from "./parse.ts";
import { type Done, explained, option } from "./setting.ts";

export function demoCommand(context: Context, done: Done): Command {
  const command = new Command("demo")
    .description("Replays a small real recording of llama.cpp that is part of llmprof: the trace, the summary, how to open it.")
    .addOption(option("--live", "run the built-in workload instead (root, in a clone of the sources)", "target"))
    .addOption(
      option("-o, --output <PATH>", "trace, format by extension, or the recording itself (.llmprof); repeatable", "output").argParser(collect),
    )
    .addOption(option("--no-output", "write no file", "output"))
    .addOption(option("--summary <FORMAT>", "summary on standard output", "output").choices(["text", "json"] as const).default("text" as const))
    .addOption(option("--bpftrace <PATH>", "bpftrace to use with --live", "tracing"))
    .addOption(option("--quiet", "no progress"))
    .addOption(option("--verbose", "causes and stacks of failures"))
    .action(async (o) => {
      const options = { ...o, quiet: o.quiet === true, ...outputPaths("demo", o.output as string[] | false | undefined, context) };
      if (o.live) {
        const { liveDemo } = await import("../demo_live.ts");
        return done(await liveDemo(options, context));
      }
      const { demo } = await import("../demo.ts");
      done(await demo(options, context));
    });
  return explained(command as unknown as Command);
}
