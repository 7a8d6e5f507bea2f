import { Argument, Command } from "@commander-js/extra-typings";
import type { Context } from "../terminal.ts";
import { type Done, explained } from "./setting.ts";

const shells = ["bash", "zsh", "fish"] as const;

export function completionsCommand(context: Context, done: Done): Command {
  const command = new Command("completions")
    .description("Prints a script that completes llmprof's commands, options and values.")
    .addArgument(new Argument("<shell>", "whose completion").choices(shells))
    .action(async (shell) => {
      const { printScript } = await import("../completions.ts");
      printScript(shell, context);
      done(0);
    });
  return explained(command as unknown as Command);
}
