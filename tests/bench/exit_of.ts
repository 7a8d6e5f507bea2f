/** With what a script would end that judges this. */
export function exitOf(judging: () => unknown): number {
  const before = Deno.exitCode;
  try {
    Deno.exitCode = 0;
    judging();
    return Deno.exitCode;
  } finally {
    Deno.exitCode = before;
  }
}
