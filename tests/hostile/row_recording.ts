import type { StreamSchema } from "../../lib/programs/schema.ts";
import { MemoryRecording } from "./memory_recording.ts";

/**
 * The recording as a bpftrace without a ring buffer would have made it: the stream's records that are numbers are rows of three maps in turn,
 * printed at the second heartbeat after them. It was ended in the middle of a sweep, so that the last map is printed twice.
 */
export function withRows(recording: MemoryRecording, stream: string): MemoryRecording {
  const [first, ...lines] = new TextDecoder().decode(recording.bytes.get(stream)).trimEnd().split("\n");
  const schema: StreamSchema = JSON.parse(first!);
  const kinds = new Map(
    Object.entries(schema.records).filter(([kind, { fields }]) => kind.length > 1 && fields.every(({ type }) => type !== "text")),
  );
  const width = Math.max(...[...kinds.values()].map(({ fields }) => fields.length));
  const maps: string[][] = [[], [], []];
  const offered = [0, 0, 0];
  const told: string[] = [];
  let [filling, relieved] = [0, "0"];
  let last: string[] = [];
  const tick = (at: string) => {
    const full = (filling + 2) % 3;
    const print = maps[full]!.splice(0);
    if (print.length > 0) last = print;
    told.push(...print, `@offered${full}: ${offered[full]}`, `(8, ${relieved})`);
    [filling, relieved] = [(filling + 1) % 3, at];
  };
  for (const line of lines) {
    const [kind, at, ...rest] = line.split(" ");
    const shape = kinds.get(kind!);
    if (shape) {
      const fill = new Array<string>(width - shape.fields.length).fill("0");
      maps[filling]!.push(`@rows${filling}[${at}, ${offered[filling]! % 8}]: (${[kind, ...rest, ...fill].join(", ")})`);
      offered[filling]!++;
    } else told.push(line);
    const beat = /^\(9, (\d+)\)$/.exec(line)?.[1];
    if (beat !== undefined) tick(beat);
  }
  // However few heartbeats the recording ends with: every map that was written is printed before a run ends.
  for (let i = 0; i < 2; i++) tick(relieved);
  told.push(...last);
  const rows = [...kinds.values()].map(({ name }) => name);
  return recording.with(stream, new TextEncoder().encode([JSON.stringify({ ...schema, rows }), ...told, ""].join("\n")));
}
