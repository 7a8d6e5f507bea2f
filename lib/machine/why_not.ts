/** Why a file or folder cannot be opened, read or written, as a sentence. */
export function whyNot(cause: unknown): string {
  if (cause instanceof Deno.errors.NotCapable) {
    return "Deno, on which llmprof runs, opens what lies below /dev, /proc and /sys only to programs that may do everything.";
  }
  return cause instanceof Error ? `${withoutCodes(cause.message).replace(/\.$/, "")}.` : String(cause);
}

/** `EACCES: permission denied, open '/x'` and `Permission denied (os error 13): open '/x'` */
function withoutCodes(said: string): string {
  return said.replace(/^E[A-Z0-9]+: /, "").replace(/\s*\(os error.*|[:,] (open|mkdir|stat|lstat|write)\b.*$/, "");
}

/** In whichever of Deno's and node's words. */
export function isAbsent(cause: unknown): boolean {
  return cause instanceof Deno.errors.NotFound || (cause as NodeJS.ErrnoException | null)?.code === "ENOENT";
}

/** Whether Deno keeps that folder from llmprof. */
export function isKept(folder: string): boolean {
  try {
    Deno.statSync(folder);
    return false;
  } catch (cause) {
    return cause instanceof Deno.errors.NotCapable;
  }
}
