import type { SpawnChild } from "./child.ts";
import { PROCESS_WORDS } from "./process_words.ts";

/** `PPID` is llmprof. Some shells hear of a signal only behind what they read, but each while it waits: so another reads, until llmprof is gone. */
const script = `trap '' HUP INT QUIT TERM
${PROCESS_WORDS}
is_llmprof() { [ "/proc/$1/exe" -ef "/proc/$PPID/exe" ]; }
free() {
  trap '' TSTP
  heard=1 looks=0
  until halts "$PPID" || [ "$looks" = 100 ]; do
    sleep 0.02
    looks=$((looks + 1))
    field "$PPID" State
    if [ "$value" != D ]; then continue; fi
    for dir in /proc/[0-9]*; do
      pid=\${dir#/proc/}
      field "$pid" PPid
      if [ "$value" = "$PPID" ] && halts "$pid" && is_llmprof "$pid"; then kill -CONT "$pid"; fi
    done
  done
  trap free TSTP
  if halts "$PPID"; then kill -STOP "$$"; fi
}
trap free TSTP
exec 3<&0
read -r _ <&3 &
while heard= && wait "$!" || [ -n "$heard" ]; do :; done`;

/**
 * Lets Ctrl-Z suspend llmprof while it starts a child. Until a child has become its program it shares llmprof's memory, and llmprof waits for it inside
 * of the kernel (vfork): when the terminal's SIGTSTP stops such a child, llmprof can neither be stopped nor go on, and its shell waits for it for ever. A
 * process of llmprof's group, which hears the SIGTSTP too, lets that child go on, and stands with the others then. It ends with llmprof.
 */
export function allowSuspension(spawn: SpawnChild): void {
  spawn({ program: "/bin/sh", args: ["-c", script], stdin: "piped", parentDeath: true });
}
