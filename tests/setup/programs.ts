import { join } from "node:path";
import { mustRun } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";
import { isFile } from "../harness/is_file.ts";
import { builtFolder, top } from "../harness/places.ts";
import { install } from "./install.ts";
import { CannotSetUp, type Part } from "./part.ts";

const sources = join(top, "tests", "workloads");

/** What is built from which source, and with what. */
const table = {
  planted: { source: "planted.c", flags: ["-O1", "-g"], libraries: ["-ldl"] },
  steady: { source: "steady.c", flags: ["-O1", "-g", "-pthread"], libraries: ["-ldl"] },
  pagecache: { source: "pagecache.c", flags: ["-O1"], libraries: [] },
  // In a folder of its own: a target that loads it by this name must not find another.
  "stub/libllama.so": { source: "libllama_stub.c", flags: ["-O1", "-g", "-fPIC", "-shared"], libraries: [] },
  // Quick: for targets that call it ten thousand times.
  "quick/libllama.so": { source: "libllama_stub.c", flags: ["-O1", "-g", "-fPIC", "-shared", "-DBURN_NS=1000"], libraries: [] },
} as const;

/** Paths of what is built here. */
export const built = {
  planted: join(builtFolder, "planted"),
  pagecache: join(builtFolder, "pagecache"),
  steady: join(builtFolder, "steady"),
  libllamaStub: join(builtFolder, "stub", "libllama.so"),
  libllamaQuick: join(builtFolder, "quick", "libllama.so"),
};

/** Planted targets and small helpers in C. */
export const programs: Part = {
  name: "programs",
  what: "planted targets and helpers in C",
  isThere: () => Object.entries(table).every(([name, { source }]) => isNewer(join(builtFolder, name), join(sources, source))),
  async make() {
    if (findProgram("gcc") === null || !isFile("/usr/include/stdio.h")) {
      if (Deno.uid() !== 0) throw new CannotSetUp("There is no C compiler.", "Type `sudo apt-get install gcc libc6-dev`.");
      await install(["gcc", "libc6-dev"]);
    }
    for (const [name, { source, flags, libraries }] of Object.entries(table)) {
      const path = join(builtFolder, name);
      Deno.mkdirSync(join(path, ".."), { recursive: true });
      await mustRun(["gcc", "-Wall", "-Wextra", "-Werror", ...flags, "-o", path, join(sources, source), ...libraries]);
    }
  },
};

function isNewer(result: string, source: string): boolean {
  try {
    return Deno.statSync(result).mtime! >= Deno.statSync(source).mtime!;
  } catch {
    return false;
  }
}
