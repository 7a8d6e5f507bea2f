import assert from "node:assert/strict";
import { Pseudonyms } from "../timeline/pseudonyms.ts";
import { clientOf } from "./clients.ts";

Deno.test("clients: who asks another process to run what it is given, by its name in any folder", () => {
  assert.deepEqual(["docker", "/usr/bin/podman", "./ollama"].map(clientOf), ["docker", "podman", "ollama"]);
  assert.deepEqual(["llama-server", "/opt/docker/engine", "dockerd", ""].map(clientOf), [null, null, null, null]);
});

Deno.test("clients: one that --redact hides is still known to be one, and another program is not", () => {
  const names = new Pseudonyms();
  assert.deepEqual(["/usr/bin/ollama", "./engine"].map((path) => clientOf(names.path(path))), ["path-1.client", null]);
});
