import { usage } from "../events/errors.ts";
import { here } from "./here.ts";

/** The current folder, for what is named from there, and for a program that is started in it. */
export function mustBeHere(): string {
  const folder = here();
  if (folder !== undefined) return folder;
  throw usage("The current folder is no more.", "It was removed after somebody had gone into it.", "Run: cd /tmp");
}
