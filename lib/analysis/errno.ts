/** What Linux calls the errors of `mlock`, of opening a device, and their neighbours, on every architecture. */
const NAMES: Readonly<Record<number, string>> = {
  1: "EPERM",
  2: "ENOENT",
  4: "EINTR",
  5: "EIO",
  6: "ENXIO",
  11: "EAGAIN",
  12: "ENOMEM",
  13: "EACCES",
  14: "EFAULT",
  16: "EBUSY",
  19: "ENODEV",
  22: "EINVAL",
  25: "ENOTTY",
};

export function errnoName(errno: number): string {
  return NAMES[errno] ?? `errno ${errno}`;
}
