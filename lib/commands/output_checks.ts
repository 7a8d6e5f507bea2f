import { isAbsolute, resolve } from "node:path";
import { ExitCode, LlmprofError, usage } from "../events/errors.ts";
import { quoteWord } from "../machine/needs/shell.ts";
import { type Owner, RefusedFile, RegularFile } from "../machine/regular_file.ts";
import { diskLimit, systemLimitOf } from "../machine/system_limits.ts";
import { isAbsent, whyNot } from "../machine/why_not.ts";
import { type Format, formatOf, formats, isGzip } from "../../exporters/formats.ts";
import { mustBeHere } from "./must_be_here.ts";

/** A path that has an option of its own. */
export interface NamedPath {
  /** What names it, as somebody types it. */
  readonly option: string;
  readonly path: string;
  /** What is written is added to what is there: lines of JSON. */
  readonly adds?: boolean;
}

/** Where a run writes. */
export interface OutputPaths {
  /** None with `--no-output`. */
  readonly outputs: readonly string[];
  /** Nobody has named the one that there is: another run may have begun in the same second, and the next name is as good. */
  readonly isDefault?: boolean;
}

const OUTPUT = "-o PATH";

/** Throws what is wrong with a path, and leaves every file as it is: for a mistake to be told before anything else is looked at. */
export async function checkOutputs({ outputs: paths, isDefault }: OutputPaths, owner: Owner | null, named: readonly NamedPath[]): Promise<void> {
  const all = [...paths.map((path) => ({ path, option: OUTPUT })), ...named];
  const files = all.map(({ path }) => isAbsolute(path) ? resolve(path) : resolve(mustBeHere(), path));
  const twice = all.find((_, i) => files.indexOf(files[i]!) !== i);
  if (twice) throw usage(`${twice.path} is named twice.`, "Two outputs cannot share a file.", `Name another path with ${twice.option}.`);
  const recordings = paths.filter((path) => path.endsWith(".llmprof"));
  if (recordings.length > 1) {
    const [first, second] = recordings;
    throw usage(
      "A run makes one recording.",
      `${second} would be a copy.`,
      `To copy it afterwards: cp -r ${quoteWord(first!)} ${quoteWord(second!)}`,
    );
  }
  for (const path of paths) {
    if (path.endsWith(".llmprof")) checkRecordingPath(path);
    else {
      formatAt(path);
      await checkFilePath(path, OUTPUT, () => createOutput(path, owner, { isDefault }));
    }
  }
  for (const { path, option, adds } of named) await checkFilePath(path, option, () => createOutput(path, owner, { adds }), adds);
}

export function formatAt(path: string): Format {
  const format = formatOf(path);
  if (format) return format;
  const known = [...formats.map((f) => f.extension), ".llmprof"].join(", ");
  throw usage(`Cannot tell the format of '${path}'.`, `It ends in none of ${known}.`, `Try: -o ${quoteWord(`${path}.pftrace`)}`);
}

/** What is there is llmprof's to write to, and lines behind it could not be read. */
class NotAddable extends RefusedFile {}

/** The file of an output, as it is before a word is written. See {@link OutputPaths} and {@link NamedPath}. */
export function createOutput(path: string, owner: Owner | null, how: Pick<OutputPaths, "isDefault"> & Pick<NamedPath, "adds">): RegularFile {
  if (how.isDefault) return RegularFile.createNext(path, owner);
  if (!how.adds) return RegularFile.create(path, owner);
  // A member of gzip has an end, in whose place the next lines go.
  const file = RegularFile.create(path, owner, isGzip(path) ? "change" : "grow");
  const [first, second] = file.readAt(0, 2);
  if (first === undefined || (isGzip(path) ? first === 0x1f && second === 0x8b : first === 0x7b)) return file;
  file.close();
  throw new NotAddable("begins with no line of JSON, and lines are added to what is there.");
}

/** Opened for writing without a word written; a file that was not there before is not there after. */
async function checkFilePath(path: string, option: string, create: () => RegularFile, adds = false): Promise<void> {
  try {
    const file = create();
    try {
      if (adds && !file.isNew && isGzip(path)) await mustTakeMembers(file);
    } finally {
      file.discard();
    }
  } catch (cause) {
    throw notWritable(path, cause, option);
  }
}

async function mustTakeMembers(file: RegularFile): Promise<void> {
  const { takesMembers } = await import("../../exporters/gzip_end.ts"), buffer = new Uint8Array(1 << 16);
  const blocks = function* () {
    for (let n = file.read(buffer); n !== null; n = file.read(buffer)) yield buffer.slice(0, n);
  };
  if (!await takesMembers(blocks())) throw new NotAddable("cannot be unpacked to its end, and lines behind that could not be read.");
}

function checkRecordingPath(path: string): void {
  try {
    Deno.lstatSync(path);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw notWritable(path, cause);
    try {
      // Created and removed: the directory itself comes with the run's header.
      Deno.mkdirSync(path);
      Deno.removeSync(path);
      return;
    } catch (cause) {
      throw notWritable(path, cause);
    }
  }
  throw usage(`${path} exists already.`, "A recording is never mixed with another.", `Name another one, or: rm -r ${quoteWord(path)}`);
}

/** `option`: what names the path, as somebody types it. */
export function notWritable(path: string, cause: unknown, option = OUTPUT): LlmprofError {
  if (cause instanceof RefusedFile) {
    const next = cause instanceof NotAddable
      ? `Give it another name (mv), or choose another path with ${option}.`
      : `llmprof writes new files and plain ones of yours: choose another path with ${option}.`;
    return usage(`Cannot write ${path}.`, `It ${cause.message}`, next, { cause });
  }
  const limit = systemLimitOf(cause);
  if (limit?.exitCode === ExitCode.machine) return new LlmprofError(limit.exitCode, `Cannot write ${path}.`, limit.why, limit.next, { cause });
  const why = isAbsent(cause) ? "Its folder does not exist." : whyNot(cause);
  return usage(`Cannot write ${path}.`, why, `Choose another path with ${option}.`, { cause });
}

export function cannotGoOn(path: string, cause: unknown): LlmprofError {
  // What was removed is kept nowhere.
  const left = cause instanceof Deno.errors.NotFound ? "" : undefined;
  const limit = systemLimitOf(cause) ?? diskLimit(whyNot(cause), "Choose", left);
  return new LlmprofError(ExitCode.failed, `Cannot go on writing ${path}.`, limit.why, [limit.left, limit.next].join(" ").trim(), { cause });
}
