/** Streams of a recording, but for llmprof's own. */
function recordedStreams(recording: string): string[] {
  const names = [...Deno.readDirSync(recording)].map(({ name }) => name).filter((name) => name.endsWith(".lines"));
  return names.map((name) => name.slice(0, -".lines".length)).filter((stream) => stream !== "host").sort();
}

/** Whether frequent records came as rows of rotating maps, by what the streams say of themselves. */
export function hasRows(recording: string): boolean {
  return recordedStreams(recording).some((stream) => {
    const text = Deno.readTextFileSync(`${recording}/${stream}.lines`);
    return "rows" in JSON.parse(text.slice(0, text.indexOf("\n")));
  });
}

/** The last `@n` that each program printed, sorted; 0 where it never counted. */
export function lastCounts(recording: string): number[] {
  return recordedStreams(recording).map((stream) => {
    const text = Deno.readTextFileSync(`${recording}/${stream}.lines`);
    return Number([...text.matchAll(/^@n: (\d+)$/gm)].at(-1)?.[1] ?? 0);
  }).sort((a, b) => a - b);
}

/** Facts of a kind that llmprof told its recording. */
export function recordedFacts(recording: string, kind: string) {
  const lines = Deno.readTextFileSync(`${recording}/host.lines`).split("\n").slice(0, -1).filter((line) => line.startsWith("10 "));
  const texts = lines.map((line) => new TextDecoder().decode(Uint8Array.fromHex(line.split(" ").slice(3).join(""))));
  return texts.map((text) => JSON.parse(text)).filter(({ fact }) => fact === kind);
}

/** Names of operators, by their numbers, that a recording says of the library. */
export function operatorNames(recording: string): readonly string[] {
  return recordedFacts(recording, "table")[0].names;
}
