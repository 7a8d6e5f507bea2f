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
];
