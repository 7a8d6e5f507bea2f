import { join } from "node:path";
import { doctorSummarySchema } from "../../mod.ts";
import { mustRun } from "../harness/command.ts";
import { llmprof, llmprofForAnybody } from "../harness/llmprof.ts";
import { top } from "../harness/places.ts";
import { ownName, temporary } from "../harness/temporary.ts";

export type Check = ReturnType<typeof doctorSummarySchema.parse>["result"]["checks"][number];

/** A need that is taken away for a moment, in a namespace or a process of its own. */
export interface Loss {
  /** As `doctor` calls it; as a pattern where it says a path. */
  readonly need: string | RegExp;
  /** Shell lines that take it away, as root, in a mount namespace that ends with the test. `$T` is an empty folder. */
  readonly take: string;
  /** What the shell runs the rest under, such as `setpriv …`. */
  readonly under?: string;
  /** The command line of llmprof; `doctor` when absent. */
  readonly flags?: readonly string[];
  /** It is run by a user who may not read root's folders. */
  readonly anybody?: boolean;
  /** False: its command takes minutes, and another test types it. */
  readonly typed?: false;
  /** Shell lines after everything. */
  readonly after?: string;
}

export interface Mended {
  readonly before: Check;
  /** What the whole machine's answer was before, and its exit code. */
  readonly couldTrace: boolean;
  readonly code: number;
  /** The same line after its command was run there; null when it names none, or none was to be run. */
  readonly after: Check | null;
}

/**
 * Takes a need away, asks `doctor`, types the command that it names into the same shell, and asks again.
 *
 * `llmprof` is on PATH as a program of that name, so that a command which names it can be typed as it is.
 */
export async function mend(loss: Loss): Promise<Mended> {
  using folder = temporary();
  const program = folder.file("bin/llmprof");
  Deno.mkdirSync(folder.file("bin"));
  const words = loss.anybody ? await llmprofForAnybody(folder) : llmprof;
  Deno.writeTextFileSync(program, `#!/bin/sh\nexec ${words.map(quoted).join(" ")} "$@"\n`);
  Deno.chmodSync(program, 0o755);
  const pattern = loss.need instanceof RegExp ? loss.need.source : `^${loss.need.replaceAll(/[.*+?()]/g, "\\$&")}$`;
  const deno = loss.anybody ? folder.file("deno") : Deno.execPath();
  const ask = `${quoted(program)} doctor --summary json ${(loss.flags ?? []).map(quoted).join(" ")}`;
  Deno.writeTextFileSync(
    folder.file("rest"),
    `
    ${ask} > "$T/before" 2> "$T/said"; echo $? > "$T/code"
    fix=$(${commandIn("$T/before", pattern, deno)})
    ${loss.typed === false ? "exit" : ""}
    case $fix in
      "") ;;
      *"llmprof doctor"*) eval "$fix" > "$T/after" ;;
      *) eval "$fix" > "$T/typed" 2>&1; ${ask} > "$T/after" ;;
    esac`,
  );
  const script = `set -e\n${loss.take}\n${loss.under ?? ""} /bin/bash "$T/rest"\n${loss.after ?? ""}`;
  const path = `${Deno.env.get("PATH")}:/usr/sbin:/sbin:${folder.file("bin")}`;
  await mustRun(["unshare", "--mount", "/bin/bash", "-c", script], { env: { T: folder.path, PATH: path }, timeoutMilliseconds: 120_000 });
  const before = summaryIn(folder.file("before"));
  const find = ({ result }: typeof before) => result.checks.find(({ need }) => new RegExp(pattern).test(need));
  const lost = find(before);
  if (!lost) throw new Error(`doctor does not mention ${pattern}: ${Deno.readTextFileSync(folder.file("before"))}`);
  const after = lost.fix === "" || loss.typed === false ? null : find(summaryIn(folder.file("after"))) ?? null;
  return { before: lost, couldTrace: before.result.canTrace, code: Number(Deno.readTextFileSync(folder.file("code"))), after };
}

/** Shell words that print the command by which `doctor` mends a need, out of its summary in this file. In the language of main.ts: whatever was taken away, it runs. */
export function commandIn(file: string, pattern: string, deno = Deno.execPath()): string {
  const pick = `console.log(JSON.parse(Deno.readTextFileSync(Deno.args[0])).result.checks.find((c) => new RegExp(Deno.args[1]).test(c.need)).fix)`;
  return `DENO_DIR=$T/cache ${quoted(deno)} eval ${quoted(pick)} "${file}" ${quoted(pattern)}`;
}

function summaryIn(path: string) {
  return doctorSummarySchema.parse(JSON.parse(Deno.readTextFileSync(path)));
}

export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Any user may become root by `sudo` in this namespace, as an administrator does on a machine. */
export const sudoForAll = `printf 'Defaults secure_path="%s"\\nALL ALL=(ALL) NOPASSWD: ALL\\n' "$PATH" > "$T/sudoers"; chmod 440 "$T/sudoers"
  mount --bind "$T/sudoers" /etc/sudoers`;

/** A fake bpftrace of this version, in a folder that is put before all others on PATH. */
export function fakeBpftrace(version: string): string {
  return `mkdir -p "$T/old"; printf '#!/bin/sh\\necho bpftrace v${version}\\n' > "$T/old/bpftrace"; chmod 755 "$T/old/bpftrace"; PATH=$T/old:$PATH`;
}

/** The bpftrace that is here, after this line of a shell's; before all others on PATH. */
export function bpftraceThat(line: string): string {
  return `mkdir "$T/other"; printf '#!/bin/sh\\n%s\\nexec %s "$@"\\n' ${quoted(line)} "$(command -v bpftrace)" > "$T/other/bpftrace"
    chmod 755 "$T/other/bpftrace"; PATH=$T/other:$PATH`;
}

/** A bpftrace that says of itself what this version does. */
export function sayingBpftrace(version: string): string {
  const said = join(top, "tests", "fixtures", "bpftrace", `${version}.txt`);
  return bpftraceThat(`case $1 in --version | --info) exec cat ${quoted(said)} ;; esac`);
}

/** A control group of the first or second version for one test; null where there can be none. */
export function controlGroup(controller: "memory" | "cpu" | "pids"): { readonly folder: string; readonly version: 1 | 2 } | null {
  const parent = join("/sys/fs/cgroup", controller);
  // In version 2 there is no such folder.
  if (exists(join(parent, "cgroup.procs"))) return { folder: join(parent, ownName), version: 1 };
  try {
    const delegated = Deno.readTextFileSync("/sys/fs/cgroup/cgroup.subtree_control").split(/\s+/);
    return delegated.includes(controller) ? { folder: `/sys/fs/cgroup/${ownName}`, version: 2 } : null;
  } catch {
    return null;
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
