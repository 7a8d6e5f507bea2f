import assert from "node:assert/strict";
import { ownName } from "./own_name.ts";

Deno.test("own name: what sudo finds, too, whatever the file is called", () => {
  assert.equal(ownName(undefined, "/home/me"), "llmprof");
  assert.equal(ownName("/usr/bin/llmprof", "/usr/bin"), "llmprof");
  assert.equal(
    ownName("/usr/local/bin/llmprof", "/home/me"),
    "/usr/local/bin/llmprof",
    "in sudo's secure_path of one distribution, and not of another",
  );
  assert.equal(ownName("/home/me/llmprof-linux-x86_64", "/home/me"), "./llmprof-linux-x86_64");
  assert.equal(ownName("/home/me/llmprof-linux-x86_64", "/"), "/home/me/llmprof-linux-x86_64");
  assert.equal(ownName("/opt/a b/llmprof", undefined), "/opt/a b/llmprof");
});
