import type { Probe } from "../../lib/programs/probe.ts";
import { calls, families } from "./calls.ts";

/** Ask for who called where GPU memory is allocated; calls.bt reads it where a program has this. */
export const stacks: readonly Probe[] = families.map((family) => ({
  name: `${family}/stacks`,
  summary: "who called, where GPU memory is allocated",
  template: "",
  library: calls[family].library!,
  asked: "stacks",
  records: {},
  decoder: () => ({ event() {}, end() {} }),
}));
