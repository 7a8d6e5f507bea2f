import { lastPart } from "../events/text.ts";

/** `ld-linux-x86-64.so.2`, `ld-musl-x86_64.so.1`, `ld.so`. */
const LOADER = /(^|\/)ld[\w.-]*\.so(\.\d+)*$/;
/** Options of its own that a value follows. */
const VALUED = /^--(preload|audit|library-path|argv0|inhibit-rpath|glibc-hwcaps-\w+)$/;

/** Whether a file is the dynamic loader, which may be started with a program to run: then that is what `/proc/PID/exe` leads to. */
export function isLoader(path: string): boolean {
  return LOADER.test(path);
}

/** File name of the program that a loader was told to run (`ld.so --library-path lib ./engine`); undefined for the words of others. */
export function loadedBy([loader = "", ...words]: readonly string[]): string | undefined {
  if (!isLoader(loader)) return undefined;
  const program = words.find((word, i) => !word.startsWith("--") && !VALUED.test(words[i - 1] ?? ""));
  return program === undefined ? undefined : lastPart(program);
}
