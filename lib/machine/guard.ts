import { ExitCode, LlmprofError } from "../events/errors.ts";
import { type Child, type SpawnChild, spawnChild } from "./child.ts";
import { PROCESS_WORDS } from "./process_words.ts";

/** What a guard is called, with the number of its llmprof behind it, and who looks after stopped processes beside it. */
const GUARD = "llmprof:", WATCHER = "watch-stopped";

/** Knows what llmprof would leave behind: lets the processes that stand stopped go on when it dies or is suspended, and removes its files. */
export interface Guard {
  readonly pid: number;
  /** From now on this process stands stopped because of llmprof. Resolves when the guard is sure to learn it. */
  stopped(pid: number): Promise<void>;
  /** It goes on, or is gone. */
  released(pid: number): Promise<void>;
  /** It is to go on, and whoever should have seen to it has failed. */
  letGo(pid: number): Promise<void>;
  /** The gate may stop this process and whatever it forks before any of them has mapped a library: at the start of a program. */
  mayStop(pid: number): Promise<void>;
  /** From now on a gate inside the kernel may stop a process of which llmprof has not heard yet: as long as its bpftrace lives. */
  armed(bpftrace: number): Promise<void>;
  /** A gate ended before it had told whom it stopped: {@link close} looks for them. */
  unheard(): void;
  /** The orderly end: nothing will be stopped any more. Resolves when the guard is gone. */
  close(): Promise<void>;
}

/** Whether a process of this name is a guard, or looks after stopped processes for one. */
export function isHelper(comm: string): boolean {
  return comm.startsWith(GUARD) || comm === WATCHER;
}

/** For a run that leaves nothing to anybody but its caller. */
export const noGuard: Guard = {
  pid: -1,
  mayStop: () => Promise.resolve(),
  stopped: () => Promise.resolve(),
  released: () => Promise.resolve(),
  letGo: () => Promise.resolve(),
  armed: () => Promise.resolve(),
  unheard: () => {},
  close: () => Promise.resolve(),
};

/**
 * The process ends when its standard input does. Then it continues what was reported as stopped, and, where a gate inside the kernel may have
 * stopped a process that llmprof had not yet reported, everything else that stands stopped, did not do so when the guard started, and has
 * mapped a matching file or belongs to a tree in which programs are stopped at their start. It looks until no gate's bpftrace lives, and once
 * more, for three seconds at most: whom another llmprof stops is not its affair. What another that lives has started it knows by that one's guard, whose
 * name is `llmprof:` and that llmprof's number.
 *
 * While llmprof is suspended nobody of another process group stands, also not whom a gate stops then: a shell's `fg` reaches llmprof's own. A subshell
 * looks after that, twice a second, as long as one is listed or may be stopped, and where it is known whom the gate is
 * for, after nobody else; by its name it is no guard. Where llmprof and the guard were killed at once, it does what the guard would have done: a
 * `pkill llmprof` does not find it. One that knows more is there before it goes.
 *
 * Whoever has stopped itself because such a process stands goes on with it: its starter (`sudo`, `su` …), with that one's process group. A SIGCONT does
 * not end the stop of a debugger, so a process that one holds (`t`) is sent it, too; of llmprof itself `t` says nothing: strace holds it at each call.
 *
 * `$1` is a folder that goes with llmprof, if it is not empty. What follows are patterns of the shell; without one, nobody is stopped. State is read
 * from `status`, where a newline in a process's name is escaped.
 */
const script = `trap '' HUP INT TERM
${PROCESS_WORDS}
stopped() {
  field "$1" State
  case $value in
    T | t) ;;
    Z) field "$1" Threads && [ "$value" -gt 1 ] ;;
    *) return 1 ;;
  esac
}
resume() {
  lets "$1"
  if stopped "$1"; then kill -CONT "$1" 2>/dev/null; fi
  field "$1" NSpgid
  group=$value
  field "$1" PPid
  up=$value
  while [ "\${up:-0}" -gt 1 ] && [ "$up" != "$PPID" ]; do
    case $before in
      *" $up "*) ;;
      *) if starts "$up" && halts "$up" && ! ours "$up"; then rouse "$up" "$group"; fi ;;
    esac
    field "$up" PPid
    up=$value
  done
}
lives() { field "$1" State; case $value in '' | Z | X) return 1 ;; esac; }
maps() {
  process=$1
  shift
  while read -r line; do
    for pattern; do case $line in $pattern) return 0 ;; esac; done
  done 2>/dev/null < "/proc/$process/maps"
  return 1
}
below() {
  up=$1
  while [ "\${up:-0}" -gt 1 ]; do
    case $2 in *" $up "*) return 0 ;; esac
    field "$up" PPid
    up=$value
  done
  return 1
}
ours() { [ -n "$own" ] && field "$1" NSpgid && [ "$value" = "$own" ]; }
concerned() {
  if below "$1" "$roots"; then return; fi
  if [ -n "$own" ] && [ "$roots" != ' ' ]; then return 1; fi
  maps "$@"
}
armed() {
  for gate in $gates; do
    if lives "$gate"; then return; fi
  done
  return 1
}
unlisted() {
  others=' '
  for dir in /proc/[0-9]*; do
    field "\${dir#/proc/}" Name
    case $value in "${GUARD}$PPID") ;; ${GUARD}*) others="$others\${value#${GUARD}} " ;; esac
  done
  for dir in /proc/[0-9]*; do
    pid=\${dir#/proc/}
    case $before in *" $pid "*) continue ;; esac
    if stopped "$pid" && ! ours "$pid" && ! below "$pid" "$others" && concerned "$pid" "$@"; then resume "$pid"; fi
  done
}
unlist() { case $listed in *" $1 "*) listed="\${listed%% $1 *} \${listed#* $1 }" ;; esac; }
watch() {
  earlier=$watcher
  watcher= strangers=
  field "$PPID" NSpgid
  own=$value
  for pid in $listed; do
    if ! ours "$pid"; then strangers="$strangers $pid"; fi
  done
  case $listed$gates in *[0-9]*)
    (
      sleeper=
      trap 'if [ -n "$sleeper" ]; then kill -KILL "$sleeper"; fi; exit' USR1
      printf %s ${WATCHER} > /proc/self/comm
      while lives $$; do
        sleep 0.5 &
        sleeper=$!
        wait "$sleeper"
        sleeper=
        if halts "$PPID"; then
          for pid in $strangers; do resume "$pid"; done
          if armed; then unlisted "$@"; fi
        fi
      done
      own=
      if ! lives "$PPID"; then tidy "$@"; fi
    ) &
    watcher=$! ;;
  esac
  own=
  if [ -n "$earlier" ]; then
    kill -USR1 "$earlier"
    wait "$earlier"
  fi
}
tidy() {
  if [ -n "$folder" ]; then rm -rf -- "$folder"; fi
  looks=0
  until [ "$looks" = 30 ]; do
    for pid in $listed; do resume "$pid"; done
    if [ -n "$gates" ]; then unlisted "$@"; fi
    if [ -n "$last" ]; then break; fi
    if ! armed; then last=1; fi
    looks=$((looks + 1))
    sleep 0.1
  done
}
leave() {
  listed= gates=
  watch
  exit 0
}
printf %s "${GUARD}$PPID" > /proc/$$/comm
folder=$1 before=' ' listed=' ' roots=' ' gates= last= watcher= own=
shift
if [ $# -gt 0 ]; then
  for dir in /proc/[0-9]*; do
    pid=\${dir#/proc/}
    if stopped "$pid" && [ "$value" != t ]; then before="$before$pid "; fi
  done
fi
echo ready
while read -r word; do
  case $word in
    end) leave ;;
    below=*) roots="$roots\${word#below=} " ;;
    gate=*)
      gates="$gates \${word#gate=}"
      watch "$@" ;;
    +*)
      listed="$listed\${word#+} "
      watch "$@" ;;
    -*)
      unlist "\${word#-}"
      watch "$@" ;;
    =*)
      resume "\${word#=}"
      unlist "\${word#=}"
      watch "$@" ;;
  esac
done
tidy "$@"
leave`;

/**
 * Starts the guard and waits until it has noted what stands stopped already.
 *
 * @param patterns Shell patterns of which one has to match a line of `/proc/PID/maps` as a whole: a star, `/libllama`, a star. None: nobody will be stopped.
 * @param folder Is removed when llmprof dies.
 */
export async function startGuard(patterns: readonly string[], folder = "", spawn: SpawnChild = spawnChild): Promise<Guard> {
  if (patterns.length === 0 && folder === "") return noGuard;
  const args = ["-c", script, "llmprof-guard", folder, ...patterns];
  const child = spawn({ program: "/bin/sh", args, newSession: true, stdin: "piped", stdout: "piped" });
  const writer = child.stdin!.getWriter();
  await waitReady(child);
  // A guard that somebody killed must not end the run.
  const send = (word: string) => writer.write(new TextEncoder().encode(`${word}\n`)).catch(() => {});
  let isHeard = true;
  return {
    pid: child.pid,
    stopped: (pid) => send(`+${pid}`),
    released: (pid) => send(`-${pid}`),
    letGo: (pid) => send(`=${pid}`),
    mayStop: (pid) => send(`below=${pid}`),
    armed: (bpftrace) => send(`gate=${bpftrace}`),
    unheard: () => void (isHeard = false),
    close: async () => {
      if (isHeard) await send("end");
      await writer.close().catch(() => {});
      await child.status;
    },
  };
}

async function waitReady(child: Child): Promise<void> {
  const reader = child.stdout!.getReader();
  const { done } = await reader.read();
  await reader.cancel();
  if (done) {
    const { code } = await child.status;
    throw new LlmprofError(
      ExitCode.failed,
      "The guard process did not start.",
      `It ended with code ${code}; without it, nothing may be stopped.`,
      "Check: setpriv /bin/sh -c true",
    );
  }
}
