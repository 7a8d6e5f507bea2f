import type { Param } from "../../lib/programs/probe.ts";
import fragment from "./decode.bt" with { type: "text" };

/**
 * llama_context::decode(const llama_batch &), all that llama_decode calls. Where both are compiled together either may be a part of whoever calls it: a
 * linker puts llama_decode into its callers, and a compiler that function, which since September 2026 only makes another batch of it, into llama_decode.
 */
const INNER = "_ZN13llama_context6decodeERK11llama_batch";
/** A linker may have left only the latter. */
export const DECODES = ["llama_decode", INNER];
const outer = { functions: [["llama_decode"]] } as const, inner = { functions: [[INNER]], part: true } as const;

/** Where a batch is decoded, by the first of both that is called. */
export const decodeSites: Readonly<Record<string, Param>> = {
  decode: { type: "site", at: "entry", ...outer },
  decode_return: { type: "site", at: "return", ...outer },
  inner: { type: "site", at: "entry", ...inner },
  inner_return: { type: "site", at: "return", ...inner },
};

/** The template with what a batch is where it says DECODE. */
export function decoding(template: string): string {
  return template.replaceAll("DECODE", () => fragment);
}
