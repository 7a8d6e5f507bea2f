import { lastPart } from "../events/text.ts";

/** Programs that ask another process to run what they are given: that is none of their children. */
const CLIENTS = new Set(["docker", "podman", "nerdctl", "ollama", "kubectl", "srun", "systemd-run"]);

/** What stays of the name of one that `--redact` hides. */
export const CLIENT = ".client";
const HIDDEN = /^path-\d+\.client$/;

/** Its name where a program, by its path, is such a client. */
export function clientOf(program: string): string | null {
  const name = lastPart(program);
  return CLIENTS.has(name) || HIDDEN.test(name) ? name : null;
}

/** What to do instead of starting it. */
export const WATCH_WHAT_IT_ASKS_FOR =
  "llmprof coldstart, without a program, waits for the next one that starts; or name what runs: --container NAME, --pid N.";
