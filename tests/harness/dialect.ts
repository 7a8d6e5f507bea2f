import type { Dialect } from "../../lib/programs/render.ts";

/** How programs are written for a recent bpftrace, on a kernel that has whatever they ask for. */
export const recentDialect: Dialect = {
  hasTracepoint: () => true,
  hasCounter: () => true,
  perCpuBuffers: 0,
  walksMaps: true,
  readsSums: true,
  rawTracepoints: false,
  printsHexadecimal: true,
  pageBytes: 4096,
  arch: "x86_64",
};
