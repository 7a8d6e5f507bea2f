/** How a library's name ends, without its version: `libggml-cpu.so`, `libc.so.6`, `llama-addon.node`. Undefined of a file that is called like none. */
export function libraryEnding(file: string): string | undefined {
  return /\.(?:so(?=\.[\w.]+$|$)|node$)/.exec(file)?.[0];
}

export function isLibrary(file: string): boolean {
  return libraryEnding(file) !== undefined;
}
