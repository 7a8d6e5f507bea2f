import { presentTorch } from "../analysis/torch_present.ts";
import { torch } from "../analysis/torch.ts";
import type { TorchResult } from "../analysis/torch_schema.ts";
import { life } from "../../probes/process/life.ts";
import { syscalls } from "../../probes/process/syscalls.ts";
import { learn } from "../../probes/torch/learn.ts";
import { ops } from "../../probes/torch/ops.ts";
import { shapes } from "../../probes/torch/shapes.ts";
import type { Profile } from "./profile.ts";

/** Every operator that PyTorch has. */
export const everyOperator = ops();

const requires = (probe = everyOperator) => [{ probe, what: "PyTorch (libtorch_cpu.so)" }];

/** Which operators take the time of a process that computes with PyTorch: of all that there are, where bpftrace attaches to thousands at once. */
export const torchProfile: Profile<TorchResult> = {
  name: "operators",
  engine: "torch",
  probes: [life, everyOperator, shapes, syscalls],
  waits: false,
  requires: requires(),
  analyse: () => torch("all"),
  present: presentTorch,
};

/** …of those that run, which has to be found out first. */
export const learnedTorchProfile: Profile<TorchResult> = {
  ...torchProfile,
  engine: "learned torch",
  probes: [life, learn, everyOperator, shapes, syscalls],
  learns: { learn: [life, learn], look: (functions) => [life, ops(functions), shapes, syscalls] },
  requires: requires(learn),
  analyse: () => torch("learned"),
};
