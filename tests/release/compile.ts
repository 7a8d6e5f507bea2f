/**
 * Makes the executable: `deno compile` with the permissions of the task `llmprof`, into dist/llmprof. Deno downloads the runtime that it puts
 * into the file; where that cannot be had, this says so in one sentence, and `deno task bundle` makes one file that `deno run` executes.
 */
import denoJson from "../../deno.json" with { type: "json" };

const [, , ...permissionsAndMain] = denoJson.tasks.llmprof.split(" ");
const command = new Deno.Command(Deno.execPath(), { args: ["compile", "--output", "dist/llmprof", ...permissionsAndMain], stderr: "piped" });
const { code, stderr } = await command.output();
const said = new TextDecoder().decode(stderr);
if (code === 0) {
  console.log("dist/llmprof");
} else if (/denort|download|dns error|Connect|fetch/i.test(said)) {
  console.error(
    `The executable was not made, because Deno could not download its base runtime (denort ${Deno.version.deno}); without it: deno task bundle`,
  );
} else {
  console.error(said);
}
Deno.exit(code);
