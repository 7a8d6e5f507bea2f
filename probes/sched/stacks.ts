import type { Probe } from "../../lib/programs/probe.ts";

/** Asks for the stack with which a thread leaves its processor; switch.bt reads it where a program has this. */
export const stacks: Probe = {
  name: "sched/stacks",
  summary: "who called, where a thread leaves its processor",
  template: "",
  asked: "stacks",
  records: {},
  decoder: () => ({ event() {}, end() {} }),
};
