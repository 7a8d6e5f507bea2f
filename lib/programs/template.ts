/**
 * A template is bpftrace plus these constructs: `{{name}}`, `FILTER`, `EMIT(record, expression…)` `LOST`, which counts what is never told as if it were sent,
 * and `WITH(probe) { … }` and `WITHOUT(probe) { … }`, statements for programs that have that probe, too, and for those that have not, or that look at such
 * processes (`everybody`, see filter.ts), or for kernels that have a tracepoint (`a:b`), or a field of it that not all have (`a:b.c`), or for a bpftrace that
 * stands at raw tracepoints (`raw`), or whose programs walk through a map of sums (`walks`); and what repeat.ts and adding.ts say. This file knows
 * only its grammar: it cuts the text into blocks, so that a block whose attach points do not exist here can be left out.
 */

export interface Block {
  /** The comma-separated attach points, as written: `tracepoint:a:b` or `{{site}}`. */
  readonly attach: readonly string[];
  /** The predicate without its slashes, or "". */
  readonly predicate: string;
  /** Everything between the braces. */
  readonly body: string;
}

/** Cuts a template into its blocks. Comments between blocks are dropped. Throws on unbalanced braces: a template is our own code. */
export function parseTemplate(text: string): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (true) {
    at = skipBlank(text, at);
    if (at >= text.length) return blocks;
    const open = findOpen(text, at);
    const close = findClose(text, open);
    const [attach, predicate] = splitHeader(text.slice(at, open));
    blocks.push({ attach, predicate, body: text.slice(open + 1, close) });
    at = close + 1;
  }
}

/** `a:b, {{c}} /predicate/` → the attach points and the predicate. Paths stand in quotes, so the first slash outside of them begins it. */
function splitHeader(header: string): [string[], string] {
  const attach: string[] = [];
  let slash = -1;
  let from = 0;
  for (let i = 0; i <= header.length; i++) {
    if (header[i] === '"') i = stringEnd(header, i);
    else if (header[i] === "," || header[i] === "/" || i === header.length) {
      attach.push(header.slice(from, i).trim());
      from = i + 1;
      if (header[i] === "/") {
        slash = i;
        break;
      }
    }
  }
  const points = attach.filter((point) => point !== "");
  if (slash < 0) return [points, ""];
  const last = header.lastIndexOf("/");
  if (last === slash) throw new Error(`template: predicate without an end in '${header.trim()}'`);
  return [points, header.slice(slash + 1, last).trim()];
}

function skipBlank(text: string, at: number): number {
  while (at < text.length) {
    if (text.startsWith("//", at)) at = lineEnd(text, at);
    else if (/\s/.test(text[at]!)) at++;
    else break;
  }
  return at;
}

/** The `{` that opens a block's body: a `{{name}}` in the header is none. */
function findOpen(text: string, at: number): number {
  while (at < text.length) {
    if (text.startsWith("{{", at)) at = text.indexOf("}}", at) + 2;
    else if (text[at] === '"') at = stringEnd(text, at) + 1;
    else if (text[at] === "{") return at;
    else at++;
  }
  throw new Error("template: a block without a body");
}

/** Where the brace at `open` is closed. */
export function findClose(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text.startsWith("//", i)) i = lineEnd(text, i);
    else if (text.startsWith("{{", i)) i = text.indexOf("}}", i) + 1;
    else if (text[i] === '"') i = stringEnd(text, i);
    else if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i;
  }
  throw new Error("template: a body without an end");
}

/** The statements of each `WITH(probe) { … }` where the program `has` the probe, and of each `WITHOUT` where it has not. */
export function replaceConditions(text: string, has: (probe: string) => boolean): string {
  const found = /WITH(OUT)?\(([\w/:.]+)\) /.exec(text);
  if (!found) return text;
  const open = found.index + found[0].length, close = findClose(text, open);
  const statements = has(found[2]!) === (found[1] === undefined) ? text.slice(open + 1, close) : "";
  return replaceConditions(text.slice(0, found.index) + statements + text.slice(close + 1), has);
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Index of the closing quote of the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i;
  }
  throw new Error("template: a string without an end");
}

/** Calls `replace` for each `EMIT(…)` in a body with its arguments, cut at commas outside brackets and strings. */
export function replaceEmits(body: string, replace: (args: string[]) => string): string {
  const word = "EMIT(";
  let out = "";
  let at = 0;
  for (let i = body.indexOf(word); i >= 0; i = body.indexOf(word, at)) {
    out += body.slice(at, i);
    const args: string[] = [];
    let depth = 1;
    let from = i + word.length;
    let j = from;
    for (; j < body.length; j++) {
      const c = body[j]!;
      if (c === '"') j = stringEnd(body, j);
      else if (c === "(" || c === "[") depth++;
      else if (c === "]") depth--;
      else if (c === ")" && --depth === 0) break;
      else if (c === "," && depth === 1) {
        args.push(body.slice(from, j).trim());
        from = j + 1;
      }
    }
    if (j >= body.length) throw new Error("template: EMIT without an end");
    args.push(body.slice(from, j).trim());
    out += replace(args);
    at = j + 1;
  }
  return out + body.slice(at);
}
