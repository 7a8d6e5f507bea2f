import { asking } from "../../lib/programs/silent.ts";

/** Asks for the stack with which a thread leaves its processor; switch.bt reads it where a program has this. */
export const stacks = asking({
  name: "sched/stacks",
  summary: "who called, where a thread leaves its processor",
  asked: "stacks",
});
