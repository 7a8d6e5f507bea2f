/**
 * A name that somebody else chose (a command line, the name of a file) for a terminal, a comment, a label: without control characters, so that it
 * stays on its line and moves no cursor.
 */
export function printable(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}
