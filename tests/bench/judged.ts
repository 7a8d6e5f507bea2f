/** A figure with what is said of its limit; where that is missed, the script ends with 1. */
export function judged(figure: string, isMet: boolean): string {
  if (!isMet) Deno.exitCode = 1;
  return `${figure}: ${isMet ? "met" : "MISSED"}`;
}
