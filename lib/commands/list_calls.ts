import { FAMILIES } from "../analysis/gpu_tables.ts";
import { ExitCode, LlmprofError } from "../events/errors.ts";
import { harmless } from "../events/text.ts";
import { RefusedFile, RegularFile } from "../machine/regular_file.ts";
import { whyNot } from "../machine/why_not.ts";
import { type ElfFile, readElf } from "../target/elf.ts";
import { hasAll } from "../programs/found_libraries.ts";
import { findSymbols, importedNames } from "../target/symbols.ts";
import { calls, families } from "../../probes/gpu/calls.ts";
import { signatureOf, signaturesOf } from "../../probes/gpu/signatures.ts";
import { renderSummary } from "../../exporters/json.ts";
import type { ListedCalls } from "./list_calls_schema.ts";
import { giveUpRun } from "./permissions.ts";
import type { Context } from "./terminal.ts";

/** Names of functions of GPU libraries, decoded or not: also what compilers call, and what computes by calling these (cuBLAS). */
const OF_GPU = /^(?:(?:cu|hip)(?:blas|fft|rand|solver|sparse)?|(?:__)?cuda|__hip|cudnn|nccl|vk|ze)[A-Z]|^(?:create|get)Infer/;

type Listed = ListedCalls["calls"][number];

/**
 * `gpu --list-calls`: the functions that are decoded; of files, those that they ask other libraries for, and of GPU libraries those that they offer, decoded
 * or not. Returns the exit code.
 */
export async function listCalls(paths: readonly string[], summary: "text" | "json", { terminal }: Context): Promise<number> {
  const listed = paths.length === 0 ? decoded() : await namedBy(paths);
  if (summary === "json") {
    terminal.out(renderSummary({ schemaVersion: 1, command: "gpu --list-calls", files: paths, calls: listed } satisfies ListedCalls));
    return ExitCode.ok;
  }
  const wide = Math.max(0, ...listed.map((call) => call.function.length));
  for (const { function: name, family, kind } of listed) {
    terminal.out(`${harmless(name).padEnd(wide)}  ${kind === null ? "not decoded" : `${family}, ${kind}`}\n`);
  }
  const missing = listed.filter(({ kind }) => kind === null).length;
  if (paths.length > 0) {
    terminal.err(`${listed.length} functions of GPU libraries are asked for or offered: ${listed.length - missing} decoded, ${missing} not.\n`);
  } else {
    const each = families.map((family) => `${FAMILIES[family]} ${signaturesOf(family).size}`);
    terminal.err(
      `${listed.length} functions are decoded: ${each.join(", ")}. Not decoded is what calls these itself: cuBLAS, cuDNN, hipBLAS, oneDNN …\n`,
    );
    terminal.err("What a program or library asks for, and a GPU library offers: llmprof gpu --list-calls -- FILE…\n");
  }
  return ExitCode.ok;
}

function decoded(): Listed[] {
  return families.flatMap((family) => [...signaturesOf(family)].map(([name, { kind }]) => ({ function: name, family, kind })));
}

async function namedBy(paths: readonly string[]): Promise<Listed[]> {
  await giveUpRun();
  const names = new Set<string>();
  for (const path of paths) for (const name of await namesOf(path)) if (OF_GPU.test(name)) names.add(name);
  return [...names].sort().map((name) => {
    const family = families.find((family) => signatureOf(family, name));
    return { function: name, family: family ?? null, kind: family ? signatureOf(family, name)!.kind : null };
  });
}

async function namesOf(path: string): Promise<string[]> {
  let file: RegularFile;
  try {
    // Libraries have several names, of which one is the file's own.
    file = RegularFile.open(Deno.realPathSync(path));
  } catch (cause) {
    const why = cause instanceof RefusedFile ? `It ${cause.message}` : whyNot(cause);
    throw new LlmprofError(ExitCode.failed, `Cannot read ${path}.`, why, "Name a program or a library.", { cause });
  }
  try {
    const elf = await readElf((offset, length) => Promise.resolve(file.readAt(offset, length)));
    if (!elf) throw new LlmprofError(ExitCode.failed, `Cannot read ${path}.`, "It is no 64-bit ELF file.", "Name a program or a library.");
    return [...await importedNames(elf), ...await offeredBy(elf)];
  } finally {
    file.close();
  }
}

/** What a library of those whose calls are watched has for others. */
async function offeredBy(elf: ElfFile): Promise<string[]> {
  const { functions } = await findSymbols(elf, [(name) => OF_GPU.test(name)], "exported");
  const isOne = families.some((family) => hasAll(functions, calls[family].library!.symbols));
  return isOne ? [...functions.keys()] : [];
}
