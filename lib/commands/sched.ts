import { sched } from "../analysis/sched.ts";
import { presentSched } from "../analysis/sched_present.ts";
import type { SchedResult } from "../analysis/sched_schema.ts";
import { parseDevices } from "../machine/disks.ts";
import { parseNodes } from "../machine/numa.ts";
import { processorNumbers } from "../machine/processors.ts";
import { life } from "../../probes/process/life.ts";
import { syscalls } from "../../probes/process/syscalls.ts";
import { stacks } from "../../probes/sched/stacks.ts";
import { switches } from "../../probes/sched/switch.ts";
import { deviceNames, numaNodes, onlineProcessors } from "./host_facts.ts";
import type { Profile } from "./profile.ts";

const probes = [life, switches, stacks, syscalls];

/** Where threads are when they are on no processor. */
export const schedProfile: Profile<SchedResult> = {
  name: "sched",
  probes,
  unpriced: { layers: ["sched"], probes },
  waits: false,
  sums: true,
  surroundings: true,
  host: async (files) => Object.assign({}, ...await Promise.all([numaNodes(files), onlineProcessors(files), deviceNames(files)])),
  analyse: ({ host }) => {
    const cpus = typeof host.cpus === "number" ? host.cpus : null;
    return sched(cpus, parseNodes(host.nodes), parseDevices(host.devices), processorNumbers(host.online));
  },
  present: presentSched,
};
