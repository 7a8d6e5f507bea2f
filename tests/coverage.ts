import { join } from "node:path";
import { mustRun, run } from "./harness/command.ts";
import { top } from "./harness/places.ts";
import { temporary } from "./harness/temporary.ts";

/**
 * How many lines of `lib/`, `probes/` and `exporters/` the tests run that need neither root nor a kernel to trace. A file that no test loads
 * counts with all its lines. Ends with 1 when a test fails or the goal is missed.
 */
const goal = 85;
/**
 * Tests of the command line run llmprof as a child, which reports too. Not those that want a kernel to trace, even where there is one; and not the one
 * that runs it as another user, who could not report into our folder and would say so where the test expects silence.
 */
const commandLine = [...Deno.readDirSync(join(top, "tests", "cli"))].map(({ name }) => `tests/cli/${name}`)
  .filter((path) => path.endsWith("_test.ts") && !/harness\/kernel\.ts|unprivileged/.test(path + Deno.readTextFileSync(join(top, path))));

interface Count {
  lines: number;
  run: number;
}

/** `lib/timeline/merge.ts` → `lib/timeline`. */
function roomOf(path: string): string {
  const [first, second] = path.split("/");
  return first === "lib" ? `${first}/${second}` : first!;
}

/** From lcov: `SF:path`, then `DA:line,hits` for each line that can run. */
function countLines(lcov: string): Map<string, Count> {
  const counts = new Map<string, Count>();
  let count: Count = { lines: 0, run: 0 };
  for (const line of lcov.split("\n")) {
    if (line.startsWith("SF:")) counts.set(line.slice(`SF:${top}/`.length), count = { lines: 0, run: 0 });
    const hits = /^DA:\d+,(\d+)/.exec(line)?.[1];
    if (hits === undefined) continue;
    count.lines++;
    if (hits !== "0") count.run++;
  }
  return counts;
}

function sources(folder: string): string[] {
  return [...Deno.readDirSync(join(top, folder))].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? sources(path) : name.endsWith(".ts") && !name.endsWith("_test.ts") ? [path] : [];
  });
}

function percent({ lines, run }: Count): string {
  return `${(lines === 0 ? 100 : run / lines * 100).toFixed(1).padStart(5)} % of ${String(lines).padStart(5)} lines`;
}

using folder = temporary();
const everything = folder.file("everything_test.ts");
const imports = ["lib", "probes", "exporters"].flatMap(sources).map((path) => `import ${JSON.stringify(join(top, path))};\n`);
await Deno.writeTextFile(everything, imports.join(""));

const options = { cwd: top, timeoutMilliseconds: 600_000 };
const reported = folder.file("coverage");
const tested = await run(
  [Deno.execPath(), "test", "-A", "--quiet", "--no-check", `--coverage=${reported}`, "lib", "probes", "exporters", ...commandLine, everything],
  options,
);
if (tested.code !== 0) console.log(tested.stdout.slice(-4000) + tested.stderr.slice(-4000));
const only = [`--include=^file://${top}/(lib|probes|exporters)/`, "--exclude=_test\\.ts$"];
const counts = countLines((await mustRun([Deno.execPath(), "coverage", "--lcov", ...only, reported], options)).stdout);

const rooms = new Map<string, Count>();
const total: Count = { lines: 0, run: 0 };
for (const [path, { lines, run }] of counts) {
  const room = rooms.get(roomOf(path)) ?? { lines: 0, run: 0 };
  rooms.set(roomOf(path), { lines: room.lines + lines, run: room.run + run });
  total.lines += lines;
  total.run += run;
}
for (const [room, count] of [...rooms].sort()) console.log(`${room.padEnd(16)} ${percent(count)}`);
console.log(`${"all".padEnd(16)} ${percent(total)}`);

const weakest = [...counts].filter(([, { lines, run }]) => lines - run >= 10).sort(([, a], [, b]) => b.lines - b.run - (a.lines - a.run)).slice(0, 8);
for (const [path, count] of weakest) console.log(`  not run: ${String(count.lines - count.run).padStart(4)} lines of ${path}`);
// Not `Deno.exit`: the folder is still to be removed.
Deno.exitCode = tested.code === 0 && total.run / total.lines * 100 >= goal ? 0 : 1;
