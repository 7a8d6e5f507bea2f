/** A bpftrace string literal that holds exactly `text`, or an error: bpftrace has no escape for a NUL, and a newline ends a program's line. */
export function quote(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new Error(`cannot be written into a program: ${JSON.stringify(text)}`);
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

/**
 * Whether a path can be an attach point's. What bpftrace takes for a pattern would attach to other files too, 0.17 ends a path at a colon, before 0.27
 * none understands a backslash, and a newline ends a program's line.
 */
export function isAttachable(path: string): boolean {
  return !/[\\:*?[\]\p{Cc}]/u.test(path);
}

/** The path of an attach point; another is refused. (What a running process has mapped goes by its inode, and never comes here by such a name.) */
export function quotePath(path: string): string {
  if (!isAttachable(path)) throw new Error(`bpftrace cannot attach to a file of this name: ${JSON.stringify(path)}`);
  return quote(path);
}

/** A uprobe or a marker by a quoted path (see {@link quotePath}) and a quoted symbol. */
const site = /^(?:u(?:ret)?probe|usdt):"(?:[^"\\:*?[\]\p{Cc}]|\\")*":(?:"(?:[^"\\\p{Cc}]|\\["\\])*"(?:\+\d+)?|"\w+":"\w+")$/u;

/** What a site resolves to names files of others. This is the one place where it enters a program: it is an attach point and nothing else. */
export function attachPoint(text: string): string {
  if (!site.test(text)) throw new Error(`no attach point: ${JSON.stringify(text)}`);
  return text;
}
