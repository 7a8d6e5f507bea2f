import assert from "node:assert/strict";
import { printed } from "../../tests/harness/lines.ts";
import { watch } from "./watch.ts";

Deno.test("watch: events as they come, in pieces too; the rest is not its business", () => {
  const seen: string[] = [];
  const schema = {
    stream: "s",
    records: { 1: { name: "window.open", fields: [] }, 10: { name: "p.hit", fields: [{ name: "x", type: "int" as const }] } },
    maps: { bytes: "p.bytes" },
    disorderNs: 0,
  };
  const push = watch(schema, ({ at, record, values }) => seen.push(`${record} ${values} at ${at}`));
  const text = printed("ready\n1 5 0\n10 7 42/42 -3\n@n: 1\n@bytes[1]: 2\nLost 3 events\nwhat is this\n(9, 11)\n");
  for (const piece of [text.slice(0, 15), text.slice(15, 17), text.slice(17)]) push(new TextEncoder().encode(piece));
  assert.deepEqual(seen, ["p.hit -3 at 7"]);
});
