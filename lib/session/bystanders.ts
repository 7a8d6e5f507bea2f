import type { Fact } from "../events/fact.ts";
import { FilesOnce } from "../machine/files_once.ts";
import type { KernelFiles } from "../machine/files.ts";
import { readProcesses } from "../target/process.ts";
import type { Session } from "./session.ts";
import { sharersOf } from "./sharers.ts";
import { sideLook } from "./side_look.ts";

/** Others are a number. */
const NAMED = 3;

/** Processes that are no members of the target, and have mapped a file in which probes stand: these are the file's, whoever runs it. */
export class Bystanders {
  #looking = Promise.resolve();
  #areTold = false;

  constructor(readonly files: KernelFiles, readonly session: () => Pick<Session, "members" | "pid" | "tell" | "watched">) {}

  /** Once something is attached, until there is something to tell: once in a run. */
  look(): Promise<void> {
    return this.#looking = this.#looking.then(() => sideLook(this.#look(), undefined));
  }

  /** What is being looked at is told before the end. */
  async conclude(): Promise<Fact[]> {
    await this.#looking;
    return [];
  }

  async #look(): Promise<void> {
    const session = this.session(), { watched } = session;
    // As long as the target is waited for it may be anybody.
    if (this.#areTold || watched.size === 0 || session.pid === undefined) return;
    const processes = await readProcesses(this.files);
    for (const pid of await session.members()) processes.delete(pid);
    const found = await sharersOf(new FilesOnce(this.files), processes.values(), watched);
    if (found.length === 0) return;
    this.#areTold = true;
    const files = [...new Set(found.flatMap(({ shared }) => shared))], names = found.slice(0, NAMED).map(({ comm }) => comm);
    session.tell({ fact: "note", text: toldOf(found.map(({ pid, comm }) => `${pid} (${comm})`), files.join(" and ")), files, names });
  }
}

function toldOf(others: readonly string[], files: string): string {
  if (others.length === 1) return `process ${others[0]} has the same ${files} mapped: it is trapped, too, and does not count`;
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : "";
  return `processes ${others.slice(0, NAMED).join(", ")}${more} have the same ${files} mapped: they are trapped, too, and do not count`;
}
