/** A command of this system as somebody other than root types it. */
export function asRoot(root: boolean, command: string): string {
  return root ? command : `sudo ${command}`;
}

/** Lets what a shell starts from then on have so many files open, or more; `ulimit` cannot where a user types `sudo`. */
export function moreFiles(enough = 0): string {
  return `prlimit --pid $$ --nofile=${roundFiles(enough)}`;
}

/** A root of a container often may not raise a limit. */
export function moreFilesInContainer(enough = 0): string {
  return `In a container: --ulimit nofile=${roundFiles(enough)}.`;
}

/** At least what any bpftrace needs on a machine that has no hundreds of processors. */
function roundFiles(enough: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(4096, enough)));
}

/** The next step of a run that met the limit. */
export const allowMoreFiles = `Allow more in this shell, as root: ${moreFiles()}\n${moreFilesInContainer()}`;

/** What lets a container trace: with SYS_ADMIN alone, Docker's profile of AppArmor still refuses tracefs. */
export const containerFlags = "--privileged --pid host -v /sys/kernel/tracing:/sys/kernel/tracing";

/** A command line. */
export interface Typed {
  /** Program first. */
  readonly argv: readonly string[];
  /** What the environment says in place of options: name → value. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The same command line with `sudo` in front, as something to paste into a shell; variables behind it, because it drops those in front. */
export function sudoLine({ argv, variables }: Typed): string {
  const set = Object.entries(variables).map(([name, value]) => `${name}=${quoteWord(value)}`);
  return ["sudo", ...set, ...argv.map(quoteWord)].join(" ");
}

/** A word that a shell reads as exactly this text. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The command that installs packages, by the distribution's own name or its parent's; null where neither is known. */
export function installCommand(distribution: readonly string[], root: boolean, ...packages: readonly string[]): string | null {
  const installer = distribution.map((id) => installers[id]).find((known) => known !== undefined);
  if (installer === undefined) return null;
  const install = asRoot(root, `${installer} ${packages.join(" ")}`);
  // A fresh image knows of no package before.
  return installer.startsWith("apt-get") ? `${asRoot(root, "apt-get update")} && ${install}` : install;
}

const installers: Readonly<Record<string, string>> = {
  debian: "apt-get install",
  ubuntu: "apt-get install",
  fedora: "dnf install",
  rhel: "dnf install",
  arch: "pacman -S",
  suse: "zypper install",
  opensuse: "zypper install",
  alpine: "apk add",
};
