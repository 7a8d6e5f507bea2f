/**
 * Writes a script that runs the bpftrace of another root as if it were installed here: same processes, same files, same working folder.
 *
 * The machine's folders are bound into the root in a mount namespace of the script's own. So nothing has to be made again after a reboot,
 * and nobody who deletes `.cache/` deletes the machine's /dev or this repository through a forgotten mount. Every step is an `exec`:
 * signals and the parent's death reach bpftrace, and its pid is the one that the caller knows.
 *
 * A path of the system itself (/usr, /lib, /etc) names the root's file, not the machine's: a target's library is better named by
 * /proc/PID/root or /proc/PID/map_files, which mean the same file everywhere.
 */
export function writeWrapper(path: string, root: string): void {
  const script = `#!/bin/sh
# Written by tests/setup/wrapper.ts. Runs the bpftrace in ${root}/ beside this file.
if [ "$1" != --in-namespace ]; then
  propagation=slave
  # In a chroot / is no mount point, and its propagation cannot be changed: the mount on itself below has to do.
  unshare --mount --propagation slave true 2>/dev/null || propagation=unchanged
  exec unshare --mount --propagation $propagation -- /bin/sh "$0" --in-namespace "$@"
fi
shift
root=$(dirname "$(readlink -f "$0")")/${root}
here=$(pwd)
mount --bind "$root" "$root" && mount --make-private "$root" || exit 126
bind() { mkdir -p "$root$1" && mount --rbind "$1" "$root$1" || exit 126; }
for folder in /*; do
  case $folder in /bin|/boot|/etc|/lib*|/lost+found|/sbin|/usr|/var) continue ;; esac
  [ -d "$folder" ] && [ ! -L "$folder" ] && bind "$folder"
done
# This repository may lie below one of those that are the root's own.
case $here in /bin/*|/etc/*|/lib*/*|/sbin/*|/usr/*|/var/*) bind "$here" ;; esac
exec chroot "$root" /usr/bin/env --chdir="$here" bpftrace "$@"
`;
  Deno.writeTextFileSync(path, script);
  Deno.chmodSync(path, 0o755);
}
