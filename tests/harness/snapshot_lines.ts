import { join } from "node:path";
import * as z from "zod";
import { top } from "./places.ts";

const published = z.fromJSONSchema(JSON.parse(Deno.readTextFileSync(join(top, "snapshots.schema.json"))));

/** What `--snapshots` wrote. Throws where a line has not just the fields of the schema that is published. */
export function snapshotLines<Line>(text: string, schema: z.ZodType<Line>): Line[] {
  return text.trimEnd().split("\n").map((line) => schema.parse(published.parse(JSON.parse(line))));
}
