/** The current folder; undefined where it is no more. */
export function here(): string | undefined {
  try {
    return Deno.cwd();
  } catch {
    return undefined;
  }
}
