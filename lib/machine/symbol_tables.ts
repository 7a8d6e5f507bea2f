import { dirname } from "node:path";
import { ExitCode, LlmprofError } from "../events/errors.ts";
import { plainEnvironment, runChild } from "./child.ts";
import { startGuard } from "./guard.ts";
import { type ImageSection, LARGEST_PAGE, writeElf } from "./elf_writer.ts";

/** Where linkers write what names the very build of a file. */
export const BUILD_ID_SECTION = ".note.gnu.build-id";

/** Raw tracepoints at which probes stand. */
export const RAW_TRACEPOINTS: readonly string[] = [
  "block_getrq",
  "block_bio_frontmerge",
  "block_bio_backmerge",
  "block_split",
  "block_rq_merge",
  "block_rq_issue",
  "block_rq_requeue",
  "block_rq_complete",
];

/** A name of llmprof's own for a place in a file of somebody else. */
export interface NamedPlace {
  /** Path of the file as it stands in the attach point; absolute. */
  readonly file: string;
  /** Content of its section `.note.gnu.build-id`; null when it has none. */
  readonly buildId: Uint8Array | null;
  readonly arch: "x86_64" | "aarch64";
  readonly name: string;
  /** In the file's own numbering. */
  readonly address: number;
}

/**
 * Symbol tables that llmprof writes for bpftrace. bpftrace places a return probe at the first instruction of a function and nowhere else, most builds
 * place an entry probe there too, and where a function begins with `endbr64` that is ten times as dear as four bytes further on. But a bpftrace finds
 * a function's name by libbcc, which looks into a debug file first and takes that from below the folder that `BCC_SYMFS` names, at the path of the
 * file itself, if its build id is the same. So what it looks up is what is written there, whatever the file itself names.
 */
export class SymbolTables {
  readonly #places = new Map<string, readonly NamedPlace[]>();
  #root: string | undefined;
  #traceable: string | undefined;

  /** What a bpftrace that is to find the places needs in its environment. Nobody else can look into the folder. */
  get environment(): Readonly<Record<string, string>> {
    return { BCC_SYMFS: this.root };
  }

  /** In memory, and root's: whoever may write there may place a probe anywhere. */
  get root(): string {
    return this.#root ??= written(() => Deno.makeTempDirSync({ dir: "/run", prefix: "llmprof-" }));
  }

  /** Path of a list of the kernel's functions behind raw tracepoints, by the names that they have in older and in newer kernels. */
  get traceable(): string {
    if (this.#traceable === undefined) {
      const path = this.#traceable = `${this.root}/traceable`;
      const names = RAW_TRACEPOINTS.flatMap((name) => [`__traceiter_${name}\n`, `__probestub_${name}\n`]);
      write(path, new TextEncoder().encode(names.join("")));
    }
    return this.#traceable;
  }

  /** From now on a bpftrace finds these places, and those that were there before. One that is reading sees the table whole, as it was or as it is. */
  add(places: readonly NamedPlace[]): void {
    for (const [file, added] of Map.groupBy(places, ({ file }) => file)) {
      // A path may come to mean another file: that of a process whose number is used again.
      const isSame = ({ buildId }: NamedPlace) => buildId?.toHex() === added[0]!.buildId?.toHex();
      const names = new Set(added.map(({ name }) => name));
      const kept = (this.#places.get(file) ?? []).filter((place) => isSame(place) && !names.has(place.name));
      const all = [...kept, ...added];
      this.#places.set(file, all);
      write(`${this.root}${file}`, tableOf(all));
    }
  }

  /** Every bpftrace has found what it looked for. */
  remove(): void {
    const root = this.#root;
    this.#root = this.#traceable = undefined;
    this.#places.clear();
    try {
      if (root !== undefined) Deno.removeSync(root, { recursive: true });
    } catch (error) {
      // Somebody tidied up before.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.remove();
  }
}

function write(path: string, bytes: Uint8Array): void {
  written(() => {
    Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    Deno.writeFileSync(`${path}.new`, bytes, { mode: 0o600 });
    Deno.renameSync(`${path}.new`, path);
  });
}

function written<Result>(doing: () => Result): Result {
  try {
    return doing();
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    const why = /os error 30/.test(said) ? "/run is read-only." : `Nothing can be written to /run: ${said.replace(/\s*\(os error.*$/s, "")}.`;
    throw new LlmprofError(ExitCode.failed, "bpftrace cannot be told where probes are to stand.", why, "See what mends it: llmprof doctor", {
      cause,
    });
  }
}

/** A file of symbols alone. bpftrace refuses a symbol without a size. */
function tableOf(places: readonly NamedPlace[]): Uint8Array {
  const { arch, buildId } = places[0]!;
  return writeElf({ arch, sections: noted(buildId), symbols: places.map(({ name, address }) => ({ name, address, size: 1 })) });
}

function noted(buildId: Uint8Array | null): ImageSection[] {
  return buildId === null ? [] : [{ name: BUILD_ID_SECTION, type: 7, bytes: buildId, align: 4 }];
}

/** What a bpftrace does with a name of llmprof's. */
export interface SymbolTrial {
  /** `whole`: it places a probe at it. `patterns`: only where the name is a pattern (0.20, which looks for a whole one in the file itself). */
  readonly finds: "whole" | "patterns" | "none";
  /** What it said where it came to no name at all; empty otherwise. */
  readonly error: string;
}

/**
 * Lets a bpftrace place probes at what llmprof names in a file without a name, which nobody runs. What it lists is no proof: 0.20 lists what it then
 * does not find, and says nothing of it. Needs root; 0.4 s. Where nothing can be written, it finds none.
 */
export async function trySymbolTables(bpftrace: string): Promise<SymbolTrial> {
  using tables = new SymbolTables();
  const arch = Deno.build.arch;
  const name = "llmprof_here";
  // As linkers write it: lengths of owner and id, the kind, the owner, the id.
  const buildId = Uint8Array.fromHex("040000001400000003000000474e5500" + "17".repeat(20));
  const address = LARGEST_PAGE, section = ".text";
  const code = { name: section, type: 1, flags: 6, address, bytes: new Uint8Array(64), align: address };
  let file: string;
  try {
    file = `${tables.root}/nameless`;
    const segments = [{ flags: 5, address, contents: { section } }];
    write(file, writeElf({ arch, sections: [...noted(buildId), code], segments, symbols: [] }));
    tables.add([{ file, buildId, arch, name, address }]);
  } catch {
    return { finds: "none", error: "" };
  }
  const program = `uprobe:"${file}":"${name}" { @a = 1; } uprobe:"${file}":"${name}*" { @b = 1; } BEGIN { exit(); }`;
  const env = { ...plainEnvironment, ...tables.environment };
  // Nobody heeds a Ctrl-C yet.
  const guard = await startGuard([], tables.root);
  try {
    const { code, stdout, stderr } = await runChild({ program: bpftrace, args: ["-e", program], env });
    // BEGIN among them; 0.27 says it on stderr. Who says nothing of it places all or ends with an error, as each does from 0.21 on.
    const placed = Number(/^Attach(?:ing|ed) (\d+) probe/m.exec(`${stdout}\n${stderr}`)?.[1] ?? 3);
    if (code === 0) return { finds: placed === 3 ? "whole" : placed === 2 ? "patterns" : "none", error: "" };
    const said = /^ERROR: (.+)/m.exec(stderr)?.[1] ?? "";
    return { finds: "none", error: said.includes(file) ? "" : said };
  } finally {
    await guard.close();
  }
}
