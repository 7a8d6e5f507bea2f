/** The kernel's own number of a device, as a probe reads it from `s_dev`: major × 2^20 + minor. */
export function deviceNumber(major: number, minor: number): number {
  return major * 2 ** 20 + minor;
}
