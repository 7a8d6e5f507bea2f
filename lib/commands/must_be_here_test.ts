import assert from "node:assert/strict";
import { inGoneFolder } from "../../tests/harness/gone_folder.ts";
import { temporary } from "../../tests/harness/temporary.ts";

Deno.test("outputs: a current folder that is no more is the caller's mistake, and none of a path that does not begin there", async () => {
  using folder = temporary();
  const imports = { checkOutputs: new URL("output_checks.ts", import.meta.url), failure: new URL("failure.ts", import.meta.url) };
  const stdout = await inGoneFolder(
    imports,
    `for (const path of ["a.json", ${JSON.stringify(folder.file("a.json"))}]) {
      try {
        await checkOutputs({ outputs: [path] }, null, []);
        console.log("may be written");
      } catch (error) {
        const { text, exitCode } = failure(error, false);
        console.log(text + exitCode);
      }
    }`,
  );
  assert.match(stdout, /^The current folder is no more\. .*\nRun: cd \/tmp\n2\nmay be written\n$/);
});
