import type { Param, SiteParam } from "../../lib/programs/probe.ts";
import fragment from "./decode.bt" with { type: "text" };

/**
 * llama_context::decode(const llama_batch &), all that llama_decode calls. Where both are compiled together either may be a part of whoever calls it: a
 * linker puts llama_decode into its callers, and a compiler that function, which since September 2026 only makes another batch of it, into llama_decode.
 */
const INNER = "_ZN13llama_context6decodeERK11llama_batch";
/** llama_context::decode(const llama_batch_ext &), which both that and llama_process call since then. */
const INNERMOST = "_ZN13llama_context6decodeERK15llama_batch_ext";
/** A linker may have left only one of them. */
export const DECODES = ["llama_decode", INNER, "llama_process", INNERMOST];
const outer = { functions: [["llama_decode"]] } as const, inner = { functions: [[INNER]], part: true } as const;

/** What fills a batch of llama_process: where one of these is a part of its callers, what the others tell is not all of it, and nothing is told. */
const FILLING = ["llama_batch_ext_clear", "llama_batch_ext_add_token", "llama_batch_ext_set_pos", "llama_batch_ext_set_output_logits"];
const filled = (at: "entry" | "return", ...functions: string[]): SiteParam => ({
  type: "site",
  at,
  functions: functions.map((name) => [name]),
  with: FILLING,
});

/** Where llama_decode's batch is decoded, by the first of both that is called. */
export const decodeSites: Readonly<Record<string, Param>> = {
  decode: { type: "site", at: "entry", ...outer },
  decode_return: { type: "site", at: "return", ...outer },
  inner: { type: "site", at: "entry", ...inner },
  inner_return: { type: "site", at: "return", ...inner },
};

/** Where a batch of llama_process is filled and emptied, and where it is decoded: by that, or by what it calls where it is a part of its callers. */
export const filledSites: Readonly<Record<string, Param>> = {
  emptied: filled("entry", "llama_batch_ext_clear", "llama_batch_ext_free"),
  adding: filled("entry", "llama_batch_ext_add_token"),
  placing: filled("entry", "llama_batch_ext_set_pos"),
  wanting: filled("entry", "llama_batch_ext_set_output_logits", "llama_batch_ext_set_output_embd"),
  process: filled("entry", "llama_process"),
  process_return: filled("return", "llama_process"),
  innermost: { ...filled("entry", INNERMOST), part: true },
  innermost_return: { ...filled("return", INNERMOST), part: true },
};

/** A batch that was seen as it was filled. */
const PLACED = `$wanted = @wanted[pid, $batch];
    EMIT(decode, arg0, $tokens, 1, $wanted & 0x3ffffffffff, $wanted >> 42 == $tokens ? 1 : 0, @places[pid, $batch], (int32)$placed);`;

/** The template with what a batch is where it says DECODE, and PLACED. */
export function decoding(template: string): string {
  return template.replaceAll("DECODE", () => fragment).replaceAll("PLACED", () => PLACED);
}
