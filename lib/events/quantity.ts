import type { Unit } from "./view.ts";

/** What stands where a figure is not known. */
const unknown = "–";

/** A figure for people: `1.23 ms`, `113.2 MB`, `1,234`, `12.3 %`, `102.3/s`. Text passes as it is, whatever the unit. */
export function quantity(value: string | number | null, unit: Unit): string {
  if (typeof value === "string") return value;
  if (value === null || !Number.isFinite(value)) return unknown;
  switch (unit) {
    case "ns":
      return duration(value);
    case "bytes":
      return scaled(value, ["B", "kB", "MB", "GB", "TB", "PB"]);
    case "count":
      return grouped(value, 0);
    case "ratio":
      // Not nothing, and not to be taken for it.
      return value !== 0 && Math.abs(value) < 0.0005 ? "<0.1 %" : `${grouped(100 * value, 1)} %`;
    case "per-second":
      return `${grouped(value, Math.abs(value) < 9.995 ? 2 : 1)}/s`;
    case "bytes-per-second":
      return scaled(value, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]);
    case "flops-per-second":
      return scaled(value, ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"]);
    case "text":
      return String(value);
  }
}

const scales = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]] as const;

/** Nanoseconds with three digits, and minutes where seconds get many. */
function duration(nanoseconds: number): string {
  const size = Math.abs(nanoseconds);
  const sign = nanoseconds < 0 ? "-" : "";
  if (size >= 99.95e9) {
    const seconds = Math.round(size / 1e9);
    const rest = String(seconds % 60).padStart(2, "0");
    return seconds < 3600 ? `${sign}${Math.floor(seconds / 60)} min ${rest} s` : `${sign}${Math.floor(seconds / 3600)} h ${hourRest(seconds)} min`;
  }
  for (const [unit, scale] of scales) {
    const value = size / scale;
    // 999.6 µs would be written `1000 µs`.
    if (value >= 0.9995) return `${sign}${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${unit}`;
  }
  return `${Math.round(nanoseconds)} ns`;
}

function hourRest(seconds: number): string {
  return String(Math.floor(seconds % 3600 / 60)).padStart(2, "0");
}

function scaled(value: number, units: readonly string[]): string {
  let rest = value;
  let step = 0;
  while (Math.abs(rest) >= 999.95 && step < units.length - 1) {
    rest /= 1000;
    step++;
  }
  return `${step === 0 ? grouped(rest, 0) : rest.toFixed(1)} ${units[step]}`;
}

/** With a comma between thousands; a count that is no whole number (a mean) keeps one decimal. */
function grouped(value: number, decimals: number): string {
  const [whole, fraction] = value.toFixed(decimals === 0 && !Number.isInteger(value) ? 1 : decimals).split(".");
  const text = whole!.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? text : `${text}.${fraction}`;
}
