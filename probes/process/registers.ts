import type { Param } from "../../lib/programs/probe.ts";

/** Where the thread is. */
export const ip: Param = { type: "arch", x86_64: 'reg("ip")', aarch64: 'reg("pc")' };

/** At a function's entry, where the call returns to: on the stack, or in the link register. */
export const caller: Param = { type: "arch", x86_64: '*(uint64 *)reg("sp")', aarch64: '(uint64)reg("r30")' };

/** What a return takes from the stack: the address that it returns to. Bytes. */
export const popped: Param = { type: "arch", x86_64: "8", aarch64: "0" };
