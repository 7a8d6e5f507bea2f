/** A command of this system as somebody other than root types it. */
export function asRoot(root: boolean, command: string): string {
  return root ? command : `sudo ${command}`;
}

/** The same command line with `sudo` in front, as something to paste into a shell. */
export function sudoLine(argv: readonly string[]): string {
  return ["sudo", ...argv.map(quoteWord)].join(" ");
}

/** A word that a shell reads as exactly this text. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The command that installs a package, by the distribution's own name or its parent's; null where neither is known. */
export function installCommand(distribution: readonly string[], ...packages: readonly string[]): string | null {
  for (const id of distribution) {
    const command = installers[id];
    if (command) return `${command} ${packages.join(" ")}`;
  }
  return null;
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
