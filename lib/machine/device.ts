/** The kernel's own number of a device, as a probe reads it from `s_dev`: major × 2^20 + minor. */
export function deviceNumber(major: number, minor: number): number {
  return major * 2 ** 20 + minor;
}

/** The same of the number that programs are told (`stat`, `find`), in decimal: of the minor number eight bits, then the major one, then the rest. */
export function toldDevice(told: string): number {
  const number = Number(told);
  return deviceNumber(number >>> 8 & 0xfff, number & 0xff | number >>> 12 & 0xfff00);
}
