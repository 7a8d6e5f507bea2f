/** A time in which a target was watched, as the trace (`.jsonl`) has it. Moments are CLOCK_BOOTTIME. */
export interface WatchedTurn {
  /** What was said when it began. */
  readonly notes: string[];
  /** Absent where it never counted. */
  opened?: bigint;
  closed?: bigint;
  /** Of calls of `llama_decode` that were seen whole. */
  readonly ends: bigint[];
  /** How many operators were seen. */
  operators: number;
}

/** One after another, of a target that is watched in turns. */
export function watchedTurns(path: string): WatchedTurn[] {
  const turns: WatchedTurn[] = [{ notes: [], ends: [], operators: 0 }];
  for (const line of Deno.readTextFileSync(path).trimEnd().split("\n")) {
    const turn = turns.at(-1)!;
    if (line.includes('"category":"ggml.op"')) turn.operators++;
    else if (line.includes('"category":"llama.decode"')) {
      const { end, open } = JSON.parse(line);
      if (!open) turn.ends.push(BigInt(end));
    } else if (line.startsWith('{"type":"mark"')) {
      const { kind, at, open, text } = JSON.parse(line);
      if (kind === "window" && open) turn.opened ??= BigInt(at);
      if (kind === "window" && !open) turn.closed = BigInt(at);
      if (kind === "note") turn.notes.push(text);
      if (kind === "ended") turns.push({ notes: [], ends: [], operators: 0 });
    }
  }
  return turns;
}
