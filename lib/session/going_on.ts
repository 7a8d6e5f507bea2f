import { PROCESS_WORDS } from "../machine/process_words.ts";

/**
 * In a shell's words, `go_on PID`: a process that stands goes on, and so does who above it has stopped itself because it stood, as `sudo`, `su` and
 * `runuser` do, sometimes with their process group; nobody else, who may stand for a reason of his own. When these go on they may send it a SIGCONT of
 * their own, which must not come when it stands for another reason: so they are waited for, and go first, and ours comes after theirs, unless it has
 * stopped again since. One that stops itself late, for a stop that is over, goes on a moment later.
 */
export const GO_ON = `${PROCESS_WORDS}
stands() { field "$1" State; case $value in T | t) ;; *) return 1 ;; esac; }
all_halt() { for one in $above; do halts "$one" || return; done; }
none_runs() {
  for one in $above $child; do
    field "$one" State
    if [ "$value" = R ]; then return 1; fi
  done
}
wait_for() {
  looks=0
  until "$1" || [ "$looks" = "$2" ]; do
    looks=$((looks + 1))
    sleep 0.005
  done
}
go_on() {
  child=$1 above=
  field "$1" PPid
  up=$value
  while [ "\${up:-0}" -gt 1 ] && [ "$up" != "$PPID" ]; do
    if starts "$up"; then above="$up $above"; fi
    field "$up" PPid
    up=$value
  done
  if [ -n "$above" ]; then
    wait_for all_halt 40
    field "$1" NSpgid
    group=$value
    field "$1" voluntary_ctxt_switches
    stops=$value
    for up in $above; do
      if halts "$up"; then
        rouse "$up" "$group"
        wait_for none_runs 20
      fi
    done
    field "$1" voluntary_ctxt_switches
    {
      for pause in 0.1 0.3 1; do
        sleep "$pause"
        for up in $above; do
          if halts "$up" && ! stands "$1"; then rouse "$up" "$group"; fi
        done
      done
    } &
    if [ "$value" != "$stops" ] && stands "$1"; then return; fi
  fi
  kill -CONT "$1"
}`;
