import type { Profile } from "./profile.ts";

/** Profiles by the name of their command; loaded when one is used. */
export const profiles: Readonly<Record<string, () => Promise<Profile<unknown>>>> = {
  coldstart: async () => (await import("./coldstart.ts")).coldstartProfile as Profile<unknown>,
  operators: async () => (await import("./operators.ts")).operatorsProfile as Profile<unknown>,
  demo: async () => (await import("./demo_profile.ts")).demoProfile as Profile<unknown>,
};
