import { asking } from "../../lib/programs/silent.ts";
import { calls, families } from "./calls.ts";

/** Ask for who called where GPU memory is allocated; calls.bt reads it where a program has this. */
export const stacks = families.map((family) =>
  asking({
    name: `${family}/stacks`,
    summary: "who called, where GPU memory is allocated",
    library: calls[family].library!,
    asked: "stacks",
  })
);
