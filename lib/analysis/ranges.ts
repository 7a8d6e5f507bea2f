/** Numbers in order, those that follow each other together: `0–5`, `9`. */
export function ranges(numbers: readonly number[]): string[] {
  const parts: [from: number, to: number][] = [];
  for (const number of numbers) {
    const last = parts.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([from, to]) => from === to ? `${from}` : `${from}–${to}`);
}
