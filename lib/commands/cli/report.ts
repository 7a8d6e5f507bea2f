import { Command } from "@commander-js/extra-typings";
import type { Context } from "../terminal.ts";
import { type Done, explained, option } from "./setting.ts";

export function reportCommand(context: Context, done: Done): Command {
  const command = new Command("report")
    .description("Tells and draws what io and sched --snapshots wrote. Needs no root and starts no program.")
    .usage("FILE… [options]")
    .argument("<files...>", "lines of JSON that --snapshots FILE wrote, of one run or several")
    .addOption(option("--png <DIR>", "also draw: a picture of everything on one time axis, and one of each chart", "output"))
    .addOption(option("--svg <DIR>", "the same as vector graphics", "output"))
    .addOption(option("--summary <FORMAT>", "form of the answer", "output").choices(["text", "json"] as const).default("text" as const))
    .addOption(option("--quiet", "do not say what was written"))
    .addOption(option("--verbose", "causes and stacks of failures"))
    .action(async (paths, o) => {
      const { reportSnapshots } = await import("../report_snapshots.ts");
      done(await reportSnapshots(paths, { ...o, quiet: o.quiet === true }, context));
    });
  return explained(command as unknown as Command);
}
