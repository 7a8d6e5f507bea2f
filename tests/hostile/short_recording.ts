import type { StreamSchema } from "../../lib/programs/schema.ts";
import type { MemoryRecording } from "./memory_recording.ts";

/** The recording as a program that shortens lines would have made it: the operators' lines say thread and address in one number, where it holds them. */
export function withShortLines(recording: MemoryRecording, stream: string): { readonly recording: MemoryRecording; readonly short: number } {
  const [first, ...lines] = new TextDecoder().decode(recording.bytes.get(stream)).trimEnd().split("\n");
  const schema: StreamSchema = JSON.parse(first!);
  const [kind, { name, fields: [field] }] = Object.entries(schema.records).find(([, { name }]) => name === "ggml/ops.op")!;
  let short = 0;
  const told = lines.map((line) => {
    const [itsKind, at, who, address] = line.split(" ");
    if (itsKind !== kind || BigInt(address!) >> 46n !== 1n || BigInt(address!) % 16n !== 0n) return line;
    short++;
    // The address without its highest bit, 46, and its lowest four; then the thread's 22.
    return `${kind} ${at} x${((BigInt(address!) - 2n ** 46n) / 16n * 2n ** 22n + BigInt(who!) % 2n ** 22n).toString(16)}`;
  });
  const records = { ...schema.records, [kind]: { name, fields: [{ ...field, unit: "aligned address" }] } };
  return { recording: recording.with(stream, new TextEncoder().encode([JSON.stringify({ ...schema, records }), ...told, ""].join("\n"))), short };
}
