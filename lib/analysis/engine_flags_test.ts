import assert from "node:assert/strict";
import { atOnceFlags, mappingFlags } from "./engine_flags.ts";

Deno.test("engine flags: of the engines that load such a file, and for a mapping of those alone that compute in it", () => {
  assert.match(atOnceFlags("m.gguf")!, /^llama\.cpp's --load-mode none /);
  assert.match(atOnceFlags("model.safetensors")!, /^vLLM's .* or SGLang's /);
  assert.match(mappingFlags("m.gguf")!, /^llama\.cpp's --load-mode mmap,/);
  assert.deepEqual([mappingFlags("model.safetensors"), mappingFlags("m.bin"), atOnceFlags("m.bin")], [null, null, null]);
});
