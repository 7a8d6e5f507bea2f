import { io } from "../analysis/io.ts";
import { presentIo } from "../analysis/io_present.ts";
import type { IoResult } from "../analysis/io_schema.ts";
import { NamedDisks } from "../analysis/named_disks.ts";
import { parseDevices } from "../machine/disks.ts";
import { request } from "../../probes/block/request.ts";
import { access } from "../../probes/files/access.ts";
import { moves } from "../../probes/files/moves.ts";
import { untold } from "../../probes/files/untold.ts";
import { cache } from "../../probes/memory/cache.ts";
import { calls } from "../../probes/memory/calls.ts";
import { fault } from "../../probes/memory/fault.ts";
import { lock } from "../../probes/memory/lock.ts";
import { life } from "../../probes/process/life.ts";
import { syscalls } from "../../probes/process/syscalls.ts";
import { deviceNames } from "./host_facts.ts";
import type { Profile } from "./profile.ts";

const probes = [life, request, access, moves, untold, fault, cache, lock, calls, syscalls];

/** What is read from where, and how long that takes. */
export const ioProfile: Profile<IoResult> = {
  name: "io",
  probes,
  unpriced: { layers: ["io"], probes },
  waits: false,
  sums: true,
  surroundings: true,
  host: deviceNames,
  analyse: ({ host }) => io(parseDevices(host.devices)),
  told: ({ host }) => new NamedDisks(parseDevices(host.devices)).of,
  present: presentIo,
};
