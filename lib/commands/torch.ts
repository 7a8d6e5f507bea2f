import { presentTorch } from "../analysis/torch_present.ts";
import { torch } from "../analysis/torch.ts";
import type { TorchResult } from "../analysis/torch_schema.ts";
import { life } from "../../probes/process/life.ts";
import { syscalls } from "../../probes/process/syscalls.ts";
import { learn } from "../../probes/torch/learn.ts";
import { ops } from "../../probes/torch/ops.ts";
import type { Profile } from "./profile.ts";

/** Which operators take the time of a process that computes with PyTorch. */
export const torchProfile: Profile<TorchResult> = {
  name: "operators",
  engine: "torch",
  probes: [life, learn, ops([]), syscalls],
  learns: { learn: [life, learn], look: (functions) => [life, ops(functions), syscalls] },
  waits: false,
  requires: [{ probe: learn, what: "PyTorch (libtorch_cpu.so)" }],
  analyse: () => torch(),
  present: presentTorch,
};
