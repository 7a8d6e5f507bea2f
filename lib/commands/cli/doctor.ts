import { Command } from "@commander-js/extra-typings";
import type { Context } from "../terminal.ts";
import { type Done, explained, option } from "./setting.ts";

export function doctorCommand(context: Context, done: Done): Command {
  const command = new Command("doctor")
    .description("Can this machine trace? What is missing, and the command that fixes it.")
    .addOption(option("--summary <FORMAT>", "form of the answer", "output").choices(["text", "json"] as const).default("text" as const))
    .addOption(option("--bpftrace <PATH>", "bpftrace to look at", "tracing"))
    .addOption(option("--calibrate", "measure what a hit costs here, and what the machine can read and compute at most", "tracing"))
    .addOption(option("--verbose", "causes and stacks of failures"))
    .action(async (o) => {
      const { doctor } = await import("../doctor.ts");
      done(await doctor(o, context));
    });
  return explained(command as unknown as Command);
}
