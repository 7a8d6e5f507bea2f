import { gpu } from "../analysis/gpu.ts";
import { presentGpu } from "../analysis/gpu_present.ts";
import type { GpuResult } from "../analysis/gpu_schema.ts";
import { calls, families } from "../../probes/gpu/calls.ts";
import { files } from "../../probes/gpu/files.ts";
import { stacks } from "../../probes/gpu/stacks.ts";
import { states } from "../../probes/gpu/states.ts";
import { kernels } from "../../probes/parcagpu/kernels.ts";
import { life } from "../../probes/process/life.ts";
import { syscalls } from "../../probes/process/syscalls.ts";
import type { Profile } from "./profile.ts";

/** What is asked of a GPU, seen from the CPU. */
export const gpuProfile: Profile<GpuResult> = {
  name: "gpu",
  probes: [life, files, ...families.map((family) => calls[family]), ...stacks, ...states, kernels, syscalls],
  waits: false,
  gpus: true,
  analyse: () => gpu(),
  present: presentGpu,
};
