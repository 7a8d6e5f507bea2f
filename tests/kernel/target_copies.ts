import { mustRun } from "../harness/command.ts";
import { processTable, until } from "./processes.ts";
import { countedWith, plain, type TargetKind, type Way } from "./target_way.ts";

/** Two processes with the same files below, each by an overlay of its own, as two containers of one image have them. */
function inOverlays(way: Way, words: string): string[] {
  const { program } = plain(way);
  const { path } = way.folder;
  for (const name of ["none", "one", "other"]) Deno.mkdirSync(way.folder.file(name));
  const mount = (name: string) => `mount -t overlay -o 'lowerdir=${path}/plain:${path}/none' overlay '${path}/${name}'`;
  const run = (name: string) => `'${path}/${name}${program.slice(program.lastIndexOf("/"))}' 'load=${path}/${name}/libllama.so' ${words}`;
  return ["unshare", "--mount", "sh", "-c", `${mount("one")} && ${mount("other")} && { ${run("one")} & ${run("other")}; wait; }`];
}

/** Of three workers one after another each has libraries of its own, laid out otherwise. */
async function succeeded(way: Way): Promise<void> {
  const [first, second, third] = [plain(way), plain(way, "second"), plain(way, "third")];
  await mustRun(["strip", ...second.libraries]);
  await mustRun(["objcopy", "--add-section", `.more=${third.program}`, third.library]);
  const late = way.folder.file("late");
  const worker = ({ program, library }: typeof first, words: string) => `'${program}' 'load=${library}' ${words}`;
  const workers = [worker(first, `say=ready 'wait=${way.go}' call`), worker(second, `'wait=${late}' call`), worker(third, "call")];
  await way.running(["sh", "-c", `${workers.join("; ")}; true`], {
    whole: true,
    // Nobody stopped the second one for its libraries: it waits until they are attached.
    async meanwhile() {
      await until("what the second has mapped is attached", () => way.written().includes("has mapped libllama.so while"));
      Deno.writeTextFileSync(late, "");
    },
  });
}

/** Targets with more than one file, or copy of a file, that is the same library. */
export const targetsOfCopies: readonly TargetKind[] = [
  {
    name: "one file in two overlays, started",
    times: 2,
    run: (way) => way.started(inOverlays(way, "call")),
  },
  {
    name: "one file in two overlays, running",
    times: 2,
    run: (way) =>
      way.running(inOverlays(way, `say=ready 'wait=${way.go}' call`), {
        whole: true,
        first: () => until("both have loaded their library", () => processTable().filter((row) => countedWith(row, way.folder.path)).length === 2),
      }),
  },
  { name: "a running worker, and two after it with other copies", times: 3, run: succeeded },
];
