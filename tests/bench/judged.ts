/**
 * A figure with what is said of its limit; where that is missed, the script ends with 1. Null: nothing can be said of it now, and the script ends with 2, unless
 * another one is missed.
 */
export function judged(figure: string, isMet: boolean | null): string {
  if (isMet === null) Deno.exitCode ||= 2;
  if (isMet === false) Deno.exitCode = 1;
  return `${figure}: ${isMet === null ? "not measurable now" : isMet ? "met" : "MISSED"}`;
}
