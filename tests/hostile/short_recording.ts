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

/** The same told in full, as a program tells it that shortens no lines: the process is that of the thread's last line before. */
export function withLongLines(recording: MemoryRecording, stream: string): MemoryRecording {
  const [first, ...lines] = new TextDecoder().decode(recording.bytes.get(stream)).trimEnd().split("\n");
  /** Process and thread in one number, by thread. */
  const whose = new Map<bigint, string>();
  const told = lines.map((line) => {
    const [kind, at, who] = line.split(" ");
    if (who !== undefined && /^\d+$/.test(who)) whose.set(BigInt(who) % 2n ** 22n, who);
    if (!who?.startsWith("x")) return line;
    const number = BigInt(`0${who}`);
    return `${kind} ${at} ${whose.get(number % 2n ** 22n)} ${(number >> 22n) * 16n + 2n ** 46n}`;
  });
  return recording.with(stream, new TextEncoder().encode([first, ...told, ""].join("\n")));
}
