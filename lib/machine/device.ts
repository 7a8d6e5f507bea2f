/** The kernel's own number of a device, as a probe reads it from `s_dev`: major × 2^20 + minor. */
export function deviceNumber(major: number, minor: number): number {
  return major * 2 ** 20 + minor;
}

/** The same of the number that programs are told (`stat`, `find`): of the minor number eight bits, then the major one, then the rest. */
export function toldDevice(told: number): number {
  return deviceNumber(told >>> 8 & 0xfff, told & 0xff | told >>> 12 & 0xfff00);
}
