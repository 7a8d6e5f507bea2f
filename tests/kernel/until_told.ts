import { type Running, start } from "../harness/command.ts";
import type { Temporary } from "../harness/temporary.ts";

/** A program that says `ready` and does its work when a line comes on its standard input. */
export interface UntilTold extends AsyncDisposable {
  readonly pid: number;
  go(): void;
  /** All that it has printed, when it has ended. */
  said(): Promise<string>;
}

/** Returns when it is ready. Whatever fails, it does not wait for ever. */
export async function untilTold(folder: Temporary, argv: readonly string[]): Promise<UntilTold> {
  const word = folder.file(`go-${crypto.randomUUID()}`);
  const wait = `while [ ! -e "${word}" ]; do sleep 0.05; done`;
  const shell: Running = start(["sh", "-c", `(${wait}; echo) | "$@"`, "sh", ...argv]);
  const go = () => Deno.writeTextFileSync(word, "");
  const end = async () => {
    go();
    await shell[Symbol.asyncDispose]();
  };
  try {
    await shell.saw("ready");
    // Of the shell's children, the one that computes. (Another test may run the same.)
    const { stdout } = await start(["pgrep", "-P", String(shell.pid), "-fx", argv.join(" ")]).finished();
    return { pid: Number(stdout.trim()), go, said: async () => (await shell.finished()).stdout, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}
