import type { LibraryNeed } from "../../lib/programs/probe.ts";

/**
 * The CPU backend. llama.cpp may map one variant per kind of CPU in turn and keep one: by the time a context is made from a model, the choice is made.
 */
export const cpuBackend: Omit<LibraryNeed, "symbols"> = {
  prefix: "libggml-cpu",
  ready: { prefix: "libllama.", call: "llama_init_from_model", announced: "llama/calls.load" },
  table: "GGML_OP_NAME",
};
