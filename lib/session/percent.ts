/** A fraction as people read it: 0.0123 is `1.2 %`, and what is small keeps two digits. */
export function percent(fraction: number): string {
  const value = fraction * 100;
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 1 : Math.abs(value) >= 0.1 ? 2 : 3;
  return `${value.toFixed(digits)} %`;
}
