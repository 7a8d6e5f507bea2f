/** Where a shell finds programs by their names alone, also one that sudo starts: `/usr/local/bin` is not everywhere among those folders. */
const named = /^(\/usr)?\/s?bin$/;

/**
 * What to type for llmprof, under sudo, too. `executable`: where a compiled one lies, by whatever name it was saved; undefined where Deno runs the sources, or
 * a file that was bundled: then it is called what the README calls it.
 */
export function ownName(executable: string | undefined, currentFolder: string | undefined): string {
  if (executable === undefined) return "llmprof";
  const [, folder, name] = /^(.*)\/([^/]*)$/.exec(executable)!;
  return named.test(folder!) ? name! : folder === currentFolder ? `./${name}` : executable;
}
