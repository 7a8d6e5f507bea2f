import { asking } from "../../lib/programs/silent.ts";
import { calls, families } from "./calls.ts";
import { type Family, signaturesOf } from "./signatures.ts";

const hasStates = (family: Family) => signaturesOf(family).values().some(({ kind }) => kind === "state");

/**
 * Ask for the functions that only ask how things stand with a thread, a stream or a kernel, too. PyTorch asks a dozen times which device it is on for each
 * kernel that it launches: to watch that took four times as long as the net itself.
 */
export const states = families.filter(hasStates).map((family) =>
  asking({
    name: `${family}/states`,
    summary: "calls that only ask how things stand: which device is current, whether a stream is recorded",
    library: calls[family].library!,
    asked: "everyCall",
  })
);
