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
