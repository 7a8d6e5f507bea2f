import type { Module } from "./modules.ts";

const BENCH = "tests/bench/", JUDGING = `${BENCH}judged.ts`;

/** Files among the benchmarks that judge a figure, or import what does, and that no script of the task `bench:limits` runs. */
export function unlisted(modules: readonly Pick<Module, "path" | "imports">[], task: string): string[] {
  const bench = new Map(
    modules.filter(({ path }) => path.startsWith(BENCH) && !path.endsWith("_test.ts")).map(({ path, imports }) => [path, imports]),
  );
  const withImports = (path: string, seen = new Set<string>()): Set<string> => {
    if (bench.has(path) && !seen.has(path)) {
      seen.add(path);
      for (const target of bench.get(path)!) withImports(target, seen);
    }
    return seen;
  };
  const run = new Set([...bench.keys()].filter((path) => task.split(" ").includes(path)).flatMap((path) => [...withImports(path)]));
  return [...bench.keys()].filter((path) => withImports(path).has(JUDGING) && !run.has(path));
}
