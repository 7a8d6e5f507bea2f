/**
 * In a shell's words. `field PID NAME`: `value` is what a process's `status` says there, or empty. `starts PID`: it is a program that stops itself when
 * the one that it has started is stopped. `rouse PID GROUP`: one of these goes on, and with it its process group, which may be stopped as well, unless it
 * is that one. `lets PID`: the gates whose bpftraces are `$gates` hear that they hold it no longer, which they heed from who has asked for them first.
 */
export const PROCESS_WORDS = `field() {
  while read -r key value rest; do
    if [ "$key" = "$2:" ]; then return; fi
  done 2>/dev/null < "/proc/$1/status"
  value=
}
starts() { field "$1" Name; case $value in sudo | su | runuser | nsenter | script) ;; *) return 1 ;; esac; }
lets() { kill -0 $gates "$1" 2>/dev/null; }
halts() { field "$1" State; [ "$value" = T ]; }
rouse() {
  field "$1" NSpgid
  if [ "\${value:-0}" -gt 1 ] && [ "$value" != "$2" ]; then kill -CONT "-$value"; else kill -CONT "$1"; fi
}`;
