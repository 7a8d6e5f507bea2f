import assert from "node:assert/strict";
import { EscapedTexts } from "./escaped_texts.ts";

const records = {
  10: { name: "files/access.open", fields: [{ name: "dev", type: "int" }, { name: "inode", type: "int" }, { name: "name", type: "text" }] },
  11: { name: "files/access.close", fields: [{ name: "dev", type: "int" }] },
} as const;

/** What becomes of these pieces of a stream. */
function lines(...pieces: string[]): string {
  const texts = new EscapedTexts({ records });
  const all = [...pieces.map((piece) => texts.lines(new TextEncoder().encode(piece))), texts.end()];
  return all.map((bytes) => new TextDecoder().decode(bytes)).join("");
}

Deno.test("escaped texts: a text becomes hexadecimal, with its blanks and what is not printed; everything else is as it was", () => {
  const other = "3 5000000007 179524840.0\nready\n11 5 7 1\n(9, 5000000009)\n@n: 10 5 7 8\n\n";
  assert.equal(
    lines(`${other}10 5 7 1 2 a b\\x0a\\xc3\\xa9\\\\x00\\x00\n10 5 7 1 2 \\x00\n`),
    `${other}10 5 7 1 2 61 20 62 0a c3 a9 5c 00 00 \n10 5 7 1 2 00 \n`,
  );
});

Deno.test("escaped texts: in pieces it is the same, what was cut off too", () => {
  const whole = "10 5 7 1 2 a b\\x00\n11 5 7 1\n10 5 7 1";
  assert.equal(lines(...whole), lines(whole));
  assert.equal(lines(whole), "10 5 7 1 2 61 20 62 00 \n11 5 7 1\n10 5 7 1");
});
