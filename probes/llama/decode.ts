import type { Param } from "../../lib/programs/probe.ts";
import fragment from "./decode.bt" with { type: "text" };

/** llama_context::decode(const llama_batch &), all that llama_decode calls: whoever is compiled together with both calls it at once. */
const INNER = "_ZN13llama_context6decodeERK11llama_batch";
/** A linker may have left only the latter. */
export const DECODES = ["llama_decode", INNER];
const outer = { functions: [["llama_decode"]], unlessPart: INNER } as const, inner = { functions: [[INNER]], part: true } as const;

/** Where a batch is decoded, one way or the other. */
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
