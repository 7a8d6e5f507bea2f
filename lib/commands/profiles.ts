import type { Engine } from "../programs/engine.ts";
import type { Profile } from "./profile.ts";

/** Profiles by the name of their command, and for another engine by that, too; loaded when one is used. */
export const profiles: Readonly<Record<string, () => Promise<Profile<unknown>>>> = {
  coldstart: async () => (await import("./coldstart.ts")).coldstartProfile as Profile<unknown>,
  operators: async () => (await import("./operators.ts")).operatorsProfile as Profile<unknown>,
  "operators of torch": async () => (await import("./torch.ts")).torchProfile as Profile<unknown>,
  "operators of learned torch": async () => (await import("./torch.ts")).learnedTorchProfile as Profile<unknown>,
  "operators of any": async () => (await import("./any_engine.ts")).anyEngineProfile as Profile<unknown>,
  "io of totals": async () => (await import("./totals.ts")).ioTotalsProfile as Profile<unknown>,
  "sched of totals": async () => (await import("./totals.ts")).schedTotalsProfile as Profile<unknown>,
  io: async () => (await import("./io.ts")).ioProfile as Profile<unknown>,
  gpu: async () => (await import("./gpu.ts")).gpuProfile as Profile<unknown>,
  sched: async () => (await import("./sched.ts")).schedProfile as Profile<unknown>,
  record: async () => (await import("./record.ts")).recordProfile() as Profile<unknown>,
  demo: async () => (await import("./demo_profile.ts")).demoProfile as Profile<unknown>,
};

/** Loads the profile of a command for the engine of its target. Undefined for a command that nobody knows. */
export function profileOf(command: string, engine: Engine): Promise<Profile<unknown>> | undefined {
  const name = [`${command} of ${engine}`, command].find((name) => Object.hasOwn(profiles, name));
  return name === undefined ? undefined : profiles[name]!();
}
