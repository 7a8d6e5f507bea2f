import { coldstart } from "../analysis/coldstart.ts";
import { coldstartLane } from "../analysis/coldstart_lane.ts";
import { presentColdstart } from "../analysis/coldstart_present.ts";
import type { ColdstartResult } from "../analysis/coldstart_schema.ts";
import { access } from "../../probes/files/access.ts";
import { calls } from "../../probes/llama/calls.ts";
import { cache } from "../../probes/memory/cache.ts";
import { fault } from "../../probes/memory/fault.ts";
import { lock } from "../../probes/memory/lock.ts";
import { life } from "../../probes/process/life.ts";
import { running } from "../../probes/process/running.ts";
import { syscalls } from "../../probes/process/syscalls.ts";
import { listen } from "../../probes/sockets/listen.ts";
import type { Profile } from "./profile.ts";

/** Where the time from exec to the first token goes. */
export const coldstartProfile: Profile<ColdstartResult> = {
  name: "coldstart",
  probes: [life, access, lock, fault, cache, listen, calls, running, syscalls],
  waits: true,
  analyse: (header) => coldstart({ rootPid: header.target.pid, ...header.tree && { tree: header.tree } }),
  present: presentColdstart,
  annotate: coldstartLane,
};
