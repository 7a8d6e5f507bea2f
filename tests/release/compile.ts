/**
 * Makes the executable: `deno compile` of the bundle with the permissions of the task `llmprof`, into dist/llmprof; of the sources it would hold whole
 * npm packages, charts of many kinds and fonts among them. Deno downloads the runtime that it puts into the file; where that cannot be had, this says so
 * in one sentence, and `deno task bundle` makes a folder that `deno run` executes.
 */
import { permissions } from "./permissions.ts";

const modules = "dist/modules";

async function deno(args: readonly string[]): Promise<{ code: number; said: string }> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), { args: [...args], stderr: "piped" }).output();
  return { code, said: new TextDecoder().decode(stderr) };
}

// What an earlier one left would be a part of it.
await Deno.remove(modules, { recursive: true }).catch(() => {});
const bundled = await deno(["task", "--quiet", "bundle"]);
const compile = [
  "compile",
  "--no-check",
  // The runtime would keep compiled code in a file of a known name in /tmp, and run as root what anybody has put there before.
  "--no-code-cache",
  "--exclude-unused-npm",
  "--include",
  modules,
  "--output",
  "dist/llmprof",
  ...permissions,
  `${modules}/main.js`,
];
if (bundled.code !== 0) {
  console.error(bundled.said);
  Deno.exit(bundled.code);
}
const { code, said } = await deno(compile);
if (code === 0) {
  console.log("dist/llmprof");
} else if (/\bdenort-/.test(said)) {
  console.error(
    `The executable was not made, because Deno could not download its base runtime (denort ${Deno.version.deno}); without it: deno task bundle`,
  );
} else {
  console.error(said);
}
Deno.exit(code);
