/**
 * In a shell's words. `field PID NAME`: `value` is what a process's `status` says there, or empty. `rouse PID GROUP`: who has stopped itself goes on,
 * and with it its process group, which may be stopped as well, unless it is that one.
 */
export const PROCESS_WORDS = `field() {
  while read -r key value rest; do
    if [ "$key" = "$2:" ]; then return; fi
  done 2>/dev/null < "/proc/$1/status"
  value=
}
halts() { field "$1" State; [ "$value" = T ]; }
rouse() {
  field "$1" NSpgid
  if [ "\${value:-0}" -gt 1 ] && [ "$value" != "$2" ]; then kill -CONT "-$value"; else kill -CONT "$1"; fi
}`;
