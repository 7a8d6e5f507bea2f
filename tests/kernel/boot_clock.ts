import process from "node:process";
import { boottimeOffset } from "../workloads/boottime.mjs";

const { offsetNs } = boottimeOffset();

/** CLOCK_BOOTTIME in nanoseconds, now. */
export function bootNow(): bigint {
  return process.hrtime.bigint() + offsetNs;
}
