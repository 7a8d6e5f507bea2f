import type { Fact } from "../events/fact.ts";
import { FilesOnce } from "../machine/files_once.ts";
import type { KernelFiles } from "../machine/files.ts";
import { keyOf } from "../programs/found_libraries.ts";
import { libraries, parseMaps } from "../target/maps.ts";
import { readProcesses } from "../target/process.ts";
import type { Session } from "./session.ts";
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
    const others = [...processes.values()].sort((a, b) => a.pid - b.pid);
    const maps = await this.files.texts(others.map(({ pid }) => `/proc/${pid}/maps`));
    const files = new FilesOnce(this.files);
    const all = await Promise.all(others.map(async ({ pid, comm }, i) => {
      return { who: `${pid} (${comm})`, shared: await sharedBy(files, pid, maps[i] ?? "", watched) };
    }));
    const found = all.filter(({ shared }) => shared.length > 0);
    if (found.length === 0) return;
    this.#areTold = true;
    const names = [...new Set(found.flatMap(({ shared }) => shared))];
    session.tell({ fact: "note", text: toldOf(found.map(({ who }) => who), names.join(" and ")), files: names });
  }
}

/** Names of those of the watched files that a process has mapped. */
async function sharedBy(files: FilesOnce, pid: number, maps: string, watched: Session["watched"]): Promise<string[]> {
  const names = new Set(watched.values());
  // Of most processes nothing has to be taken apart.
  if (![...names].some((name) => maps.includes(name))) return [];
  const mapped = libraries(parseMaps(maps));
  const keys = await Promise.all(mapped.filter(({ name }) => names.has(name)).map((library) => keyOf(files, pid, mapped, library)));
  return keys.flatMap((key) => watched.get(key) ?? []);
}

function toldOf(others: readonly string[], files: string): string {
  if (others.length === 1) return `process ${others[0]} has the same ${files} mapped: it is trapped, too, and does not count`;
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : "";
  return `processes ${others.slice(0, NAMED).join(", ")}${more} have the same ${files} mapped: they are trapped, too, and do not count`;
}
