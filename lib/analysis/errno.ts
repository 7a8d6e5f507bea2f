/** What Linux calls the errors of `mlock` and their neighbours, on every architecture. */
const NAMES: Readonly<Record<number, string>> = { 1: "EPERM", 4: "EINTR", 11: "EAGAIN", 12: "ENOMEM", 14: "EFAULT", 22: "EINVAL" };

export function errnoName(errno: number): string {
  return NAMES[errno] ?? `errno ${errno}`;
}
