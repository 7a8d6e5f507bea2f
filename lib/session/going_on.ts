import { PROCESS_WORDS } from "../machine/process_words.ts";

/**
 * In a shell's words, `go_on PID`: a process that stands goes on, and so does who above it has stopped itself because it stood, as `sudo`, `su` and
 * `runuser` do, sometimes with their process group; nobody else, who may stand for a reason of his own. When these go on they may send it a SIGCONT of their own, which must not come when
 * it stands for another reason: so they go first, and ours comes after them, unless it has stopped again since. One that stops itself late goes on a
 * moment later.
 */
export const GO_ON = `${PROCESS_WORDS}
stands() { field "$1" State; case $value in T | t) ;; *) return 1 ;; esac; }
at_rest() {
  for one in $above; do
    field "$one" State
    if [ "$value" = R ]; then return 1; fi
  done
}
go_on() {
  above=
  field "$1" PPid
  up=$value
  while [ "\${up:-0}" -gt 1 ] && [ "$up" != "$PPID" ]; do
    if starts "$up"; then above="$up $above"; fi
    field "$up" PPid
    up=$value
  done
  field "$1" NSpgid
  group=$value
  stops=
  for up in $above; do
    if halts "$up"; then
      field "$1" voluntary_ctxt_switches
      stops=\${stops:-$value} looks=0
      rouse "$up" "$group"
      until at_rest || [ "$looks" = 20 ]; do
        looks=$((looks + 1))
        sleep 0.005
      done
    fi
  done
  if [ -n "$above" ]; then
    {
      sleep 0.1
      for up in $above; do
        if halts "$up" && ! stands "$1"; then rouse "$up" "$group"; fi
      done
    } &
  fi
  if [ -n "$stops" ]; then
    field "$1" voluntary_ctxt_switches
    if [ "$value" != "$stops" ] && stands "$1"; then return; fi
  fi
  kill -CONT "$1"
}`;
