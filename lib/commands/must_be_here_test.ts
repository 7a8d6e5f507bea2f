import assert from "node:assert/strict";
import { join } from "node:path";
import { mustRun } from "../../tests/harness/command.ts";
import { top } from "../../tests/harness/places.ts";
import { temporary } from "../../tests/harness/temporary.ts";

Deno.test("outputs: a current folder that is no more is the caller's mistake, and none of a path that does not begin there", async () => {
  using folder = temporary();
  // In a process of its own: others of this one start programs from where they are.
  const script = `
    import { checkOutputs } from ${JSON.stringify(new URL("output_checks.ts", import.meta.url).href)};
    import { failure } from ${JSON.stringify(new URL("failure.ts", import.meta.url).href)};
    const gone = Deno.makeTempDirSync();
    Deno.chdir(gone);
    Deno.removeSync(gone);
    for (const path of ["a.json", ${JSON.stringify(folder.file("a.json"))}]) {
      try {
        checkOutputs([path], null, []);
        console.log("may be written");
      } catch (error) {
        const { text, exitCode } = failure(error, false);
        console.log(text + exitCode);
      }
    }`;
  Deno.writeTextFileSync(folder.file("script.ts"), script);
  const { stdout } = await mustRun([Deno.execPath(), "run", "-A", "--no-check", "--config", join(top, "deno.json"), folder.file("script.ts")]);
  assert.match(stdout, /^The current folder is no more\. .*\nRun: cd \/tmp\n2\nmay be written\n$/);
});
