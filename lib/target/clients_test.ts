import assert from "node:assert/strict";
import { clientOf } from "./clients.ts";

Deno.test("clients: who asks another process to run what it is given, by its name in any folder", () => {
  assert.deepEqual(["docker", "/usr/bin/podman", "./ollama"].map(clientOf), ["docker", "podman", "ollama"]);
  assert.deepEqual(["llama-server", "/opt/docker/engine", "dockerd", ""].map(clientOf), [null, null, null, null]);
});
