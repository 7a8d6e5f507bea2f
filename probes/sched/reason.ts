import { systemCallName } from "../process/syscall_names.ts";

/** Why a thread was not on a processor. */
export const reasons = [
  "preempted",
  "yielded",
  "new",
  "disk",
  "file",
  "page fault",
  "lock",
  "condition",
  "network",
  "events",
  "io_uring",
  "pipe",
  "sleep",
  "children",
  "device",
  "kernel",
  "stopped",
  "other",
] as const;
export type Reason = typeof reasons[number];

export interface Why {
  readonly reason: Reason;
  /** The system call that it was in. */
  readonly call?: string;
  readonly arch: Arch;
}

/** Whether it still wants to run, and waits for a processor alone. The kernel counts that as a switch against its will, whoever wanted it. */
export function isRunnable(reason: string): boolean {
  return reason === "preempted" || reason === "yielded";
}

type Arch = "x86_64" | "aarch64";

const PREEMPTED = 256, RUNNABLE = 0, NEW = 511, STOPPED = 4 | 8, UNINTERRUPTIBLE = 2;
/** What waits with a set of bits in glibc, and what it goes on to wait with for a mutex: conditions, semaphores, threads that end. A mutex waits without. */
const FUTEX_WAIT_BITSET = 9, FUTEX_WAIT_REQUEUE_PI = 11;
/** The type of what is read or written (S_IFMT). What has none is the kernel's: an eventfd, a timerfd, a signalfd, inotify. */
const NONE = 0, FIFO = 1, CHARACTERS = 2, REGULAR = 8, SOCKET = 12;
const TRANSFERS = /^p?(read|write)(v2?|64)?$/;

const CALLS: readonly (readonly [Reason, RegExp])[] = [
  // Of what fcntl does nothing else waits for others.
  ["lock", /^(futex_wait|futex_waitv|flock|fcntl|semop|semtimedop)$/],
  ["sleep", /^(nanosleep|clock_nanosleep|pause|rt_sigsuspend|rt_sigtimedwait)$/],
  ["network", /^(accept|accept4|connect|recv\w*|send(?!file)\w*)$/],
  ["events", /^(epoll_p?wait2?|p?poll|p?select6?)$/],
  ["children", /^(wait4|waitid|vfork|clone3?|fork)$/],
  ["disk", /^(fsync|fdatasync|msync|sync|syncfs|sync_file_range|io_p?getevents)$/],
  // By name, and of two at once. (What is opened may be a pipe or a device, too: more than that it is opened nobody knows.) Not `close`, which may be of
  // a socket or a device, nor `sendfile`, which waits for room in a socket.
  ["file", /^(open(at2?)?|creat|[fl]?stat|newfstatat|statx|f?statfs|f?access(at2?)?|readlink(at)?|getdents(64)?)$/],
  ["file", /^(rename(at2?)?|unlink(at)?|mkdir(at)?|rmdir|f?truncate|copy_file_range)$/],
];

/** A call by which a thread that was stopped in one of these, or woken for nothing, goes on with it. It has arguments of its own. */
const RESTART = "restart_syscall";
const RESTARTED: ReadonlySet<string> = new Set(["poll", "futex", "nanosleep", "clock_nanosleep"]);

/** The system call of a record's number; a negative one: none. */
function callOf(why: number): { readonly number: number; readonly arch: Arch } {
  const call = Math.floor(why / 16384);
  return { number: (call >> 1) - 1, arch: call % 2 === 0 ? "x86_64" : "aarch64" };
}

/** Whether a thread that left its processor so may go on with that call by another one. */
export function mayRestart(why: number): boolean {
  const { number, arch } = callOf(why);
  return number >= 0 && RESTARTED.has(systemCallName(number, arch));
}

/** What a record's number says, see switch.bt. `last`: that of the thread's last one that may go on by another call. */
export function whyOf(why: number, last?: number): Why {
  const state = why % 512, isDevice = Math.floor(why / 512) % 2 === 1, file = Math.floor(why / 1024) % 16;
  const { number, arch } = callOf(why);
  if (state === NEW) return { reason: "new", arch };
  // Of who was in a call then, only that which gives the processor away is told.
  if (state === RUNNABLE && number >= 0) return { reason: "yielded", call: systemCallName(number, arch), arch };
  if (state === PREEMPTED || state === RUNNABLE) return { reason: "preempted", arch };
  if ((state & STOPPED) !== 0) return { reason: "stopped", arch };
  // Who waits for a page says that it waits for a device; else it is a lock inside of the kernel, as of the memory map.
  if (number < 0) return { reason: isDevice ? "page fault" : (state & UNINTERRUPTIBLE) !== 0 ? "kernel" : "other", arch };
  const name = systemCallName(number, arch);
  if (name === RESTART && last !== undefined) return whyOf(why % 1024 + last - last % 1024);
  return { reason: reasonOf(name, isDevice, file, (state & UNINTERRUPTIBLE) !== 0), call: name, arch };
}

function reasonOf(call: string, isDevice: boolean, file: number, isUninterruptible: boolean): Reason {
  // The kernel says so of whatever it is asked for there, sockets included.
  if (call === "io_uring_enter" && !isUninterruptible) return "io_uring";
  if (isDevice) return "disk";
  if (call === "futex") return file === FUTEX_WAIT_BITSET || file === FUTEX_WAIT_REQUEUE_PI ? "condition" : "lock";
  if (file === SOCKET) return "network";
  if (file === FIFO) return "pipe";
  // No device is waited for: a network or a user's program answers for it, somebody else has it locked, or the kernel wants memory first.
  if (file === REGULAR) return "file";
  const known = CALLS.find(([, pattern]) => pattern.test(call));
  if (known) return known[0];
  if (call === "ioctl") return "device";
  // A lock inside of the kernel, as of the memory map.
  if (isUninterruptible) return "kernel";
  // Somebody at a terminal counts as an event, too.
  return (file === NONE || file === CHARACTERS) && TRANSFERS.test(call) ? "events" : "other";
}

/** Who sends something, takes it or lets it go. */
const SENDS = /^(send|write|pwrite|splice|tee|connect|accept|recv|read|close|shutdown|exit|io_uring|kill|tgkill)/;

/** That much more is a call by which a program answers for a file, to who waits for it as for a device. */
const ANSWERS = 512;

/** What a thread does that wakes one which waits for this reason; for others any. A disk answers by an interrupt, and nothing but a timer ends a sleep. */
const WAKES: Partial<Record<Reason, RegExp>> = {
  disk: /^$/,
  "page fault": /^$/,
  lock: /^(futex|exit|clone|flock|fcntl|close|sem)/,
  condition: /^(futex|exit|clone)/,
  network: SENDS,
  pipe: /^(write|pwrite|read|pread|splice|tee|sendfile|close|exit|io_uring|kill|tgkill)/,
  events: /^(send|write|pwrite|splice|tee|connect|accept|recv|read|close|shutdown|exit|io_uring|kill|tgkill|timerfd|signalfd|futex)/,
  io_uring: SENDS,
  children: /^(exit|exec|kill|tgkill|ptrace)/,
};

/**
 * Whether it was the thread that ran when somebody was woken, in the system call of that number less one (0: in none, as a kernel's own), and not an
 * interrupt that came meanwhile: see switch.bt.
 */
export function canWake({ reason, arch }: Why, call: number): boolean {
  return reason !== "sleep" && (call === 0 || call > ANSWERS || (WAKES[reason]?.test(systemCallName(call - 1, arch)) ?? true));
}
