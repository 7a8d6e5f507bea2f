import type { LibraryNeed } from "../../lib/programs/probe.ts";

/**
 * The CPU backend. llama.cpp may map one variant per kind of CPU in turn and keep one: by the time a context is made from a model, the choice is made.
 * Engines without llama.cpp (whisper.cpp, Ollama's own) have made it when memory for a graph is planned.
 */
export const cpuBackend: Omit<LibraryNeed, "symbols"> = {
  prefix: "libggml-cpu",
  // One file was all of ggml until November 2024.
  formerly: "libggml.",
  ready: {
    prefix: "libllama.",
    call: ["llama_init_from_model", "llama_new_context_with_model"],
    announced: "llama/calls.load",
    otherwise: { prefix: "libggml-base", call: ["ggml_gallocr_new_n"] },
  },
  inside: "alone",
  table: "GGML_OP_NAME",
};
