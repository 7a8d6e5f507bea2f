import { ExitCode, LlmprofError } from "../events/errors.ts";
import type { KernelFiles } from "../machine/files.ts";
import { FilesOnce } from "../machine/files_once.ts";
import { findLibraries, type FoundLibrary, isCalledSo, readMapped, type Sought } from "../programs/found_libraries.ts";
import type { LibraryNeed } from "../programs/probe.ts";
import { readElf } from "../target/elf.ts";
import { mappedReader } from "../target/mapped_file.ts";
import type { Wanted } from "../target/symbols.ts";
import { libtorch } from "../../probes/torch/library.ts";
import type { LibraryGroup } from "./library_groups.ts";

/** How a file begins that is a shell script, and a program for several systems. */
const APE = /^(MZqFpD|jartsr)='/;

/** Those that have to be there when a run begins: what comes later is looked at then, and what never comes is none of the target's. */
export function neededAtOnce(missing: readonly LibraryGroup[]): LibraryGroup[] {
  return missing.filter(({ need }) => !need.each);
}

/**
 * Why running processes cannot be profiled: nothing of the kind is mapped, or what is mapped cannot be read or does not tell where its functions are.
 * Null where they could be now, because they were just loading it.
 */
export async function whyMissing(files: KernelFiles, pids: readonly number[], missing: readonly LibraryGroup[]): Promise<LlmprofError | null> {
  const { need, symbols } = missing[0]!;
  const any = await find(files, pids, { ...need, symbols: [] }, []);
  const names = any.flat().map(({ name }) => name).filter((name) => isCalledSo(need, name));
  if (names.length > 0) {
    const now = await find(files, pids, need, symbols);
    if (now.some((libraries) => libraries.length > 0)) return null;
    const what = `${names[0]} does not name the function ${need.least.flat().join(" or ")}.`;
    return new LlmprofError(
      ExitCode.failed,
      what,
      "Its symbols were stripped, or it is another version than llmprof knows.",
      "Use a build that keeps its dynamic symbols.",
    );
  }
  for (const pid of pids) {
    const path = await unreadable(files, pid, need);
    if (path === null) continue;
    return new LlmprofError(
      ExitCode.failed,
      `${path} of process ${pid} cannot be read.`,
      "It is no ELF file of 64 bits, or its file system lets nobody read it but the user who mounted it (an AppImage, sshfs) or not root (NFS).",
      "Mount that with allow_other or no_root_squash, or start the program from a disk of this machine (an AppImage: --appimage-extract).",
    );
  }
  const what = `Process ${pids[0]} has no ${need.prefix.replace(/\.$/, "")}*.so mapped.`;
  const ape = await apeIn(files, pids);
  if (ape !== null) {
    return new LlmprofError(
      ExitCode.failed,
      what,
      `${ape} is an APE, as llamafiles are, which keeps no symbols that can be probed.`,
      `Start its model with llama.cpp's own programs. What it reads and waits for is seen: llmprof record --layers io,sched --pid ${pids[0]}`,
    );
  }
  if (await computesWithout(files, pids, need)) {
    return new LlmprofError(
      ExitCode.failed,
      what,
      "It uses ggml without llama.cpp, so that no tokens are seen of it.",
      "Look at its operators: --detail op",
    );
  }
  if (need.prefix !== libtorch.prefix && (await find(files, pids, { prefix: libtorch.prefix, symbols: [], apart: true }, [])).flat().length > 0) {
    return new LlmprofError(
      ExitCode.failed,
      what,
      "It computes with PyTorch, whose operators are told by a command of their own.",
      `Try: llmprof operators --pid ${pids[0]}\n` +
        `What it reads, waits for and asks of a GPU is seen beside that: llmprof record --layers gpu,io,sched --pid ${pids[0]}`,
    );
  }
  return new LlmprofError(
    ExitCode.failed,
    what,
    "It computes with neither llama.cpp, another engine on ggml nor PyTorch, or has not loaded it yet.",
    `What it reads and waits for is seen of any process: llmprof record --layers io,sched --pid ${pids[0]}. ` +
      "If its engine comes later, wait for it with --wait, or let llmprof start it: llmprof <command> -- program args… " +
      "Of a program that was stripped its debug file is needed (/usr/lib/debug/.build-id).",
  );
}

/** Path of a file with the library's name of which a process has pages, but llmprof no headers. */
async function unreadable(files: KernelFiles, pid: number, need: LibraryNeed): Promise<string | null> {
  const now = new FilesOnce(files);
  const named = (await readMapped(now, pid)).mapped.filter(({ name }) => isCalledSo(need, name));
  for (const library of named) if (!await readElf(mappedReader(now, pid, library))) return library.path;
  return null;
}

/** Path of a program that is no ELF file but one for many systems: its loader maps that. */
async function apeIn(files: KernelFiles, pids: readonly number[]): Promise<string | null> {
  const now = new FilesOnce(files);
  for (const pid of pids) {
    for (const library of (await readMapped(now, pid)).mapped.filter(({ name }) => !name.includes(".so"))) {
      const head = await mappedReader(now, pid, library)(0, 8);
      if (head && APE.test(new TextDecoder().decode(head))) return library.path;
    }
  }
  return null;
}

async function computesWithout(files: KernelFiles, pids: readonly number[], { dispensable }: LibraryNeed): Promise<boolean> {
  if (dispensable === undefined) return false;
  const beside = await find(files, pids, { prefix: dispensable, symbols: [], apart: true }, []);
  return beside.some((libraries) => libraries.length > 0);
}

function find(
  files: KernelFiles,
  pids: readonly number[],
  need: Sought,
  symbols: Wanted,
): Promise<FoundLibrary[][]> {
  const now = new FilesOnce(files);
  return Promise.all(pids.map((pid) => findLibraries(now, pid, need, symbols)));
}
