import type { Probe } from "../../lib/programs/probe.ts";
import { callRecords } from "./calls.ts";
import { GpuDecoder } from "./decoder.ts";
import template from "./files.bt" with { type: "text" };

/** `$mine`: whether the process belongs to the target. */
const MINE = "$mine = (uint64)0; if (FILTER) { $mine = (uint64)1; }";

/** Whether it is anybody but a child of llmprof's that is not the target. */
const OTHER = "($mine == 1 || (uint64)curtask->real_parent->tgid != @gpu_llmprof)";

/** Who a process is that has nothing else to do with the target. */
const NAMED = `if (@gpu_named[pid] == 0) { @gpu_named[pid] = (uint64)1; EMIT(process, $mine, buf(curtask->group_leader->comm, 16)); }`;

/** `$device`: which GPU's file a descriptor is, by where it lies; 0: none. Its name is looked at, and told, once; `@gpu_device`: 1, and 2 for what is none. */
const FILE = `
  $device = (uint64)0;
  $f = (struct file *)(*((uint64 *)((uint64)curtask->files->fdt->fd + 8 * (uint64)args->fd)));
  $i = $f->f_inode;
  if (($i->i_mode & 0xf000) == 0x2000) {
    $id = ((uint64)$i->i_sb->s_dev << 32) + (uint64)$i->i_ino;
    if (@gpu_device[$id] == 0) {
      @gpu_device[$id] = (uint64)2;
      $name = str($f->f_path.dentry->d_name.name, 16);
      if ({{known}}) {
        @gpu_device[$id] = (uint64)1;
        EMIT(device, $id, buf($f->f_path.dentry->d_name.name, 32));
      }
    }
    if (@gpu_device[$id] == 1) {
      MINE
      if (OTHER) {
        $device = $id;
        NAMED
      }
    }
  }
`;

/** A thread asks something of a device. */
const asked = (what: string) => `
  if ($device > 0) {
    @gpu_file[tid] = $device;
    @gpu_file_at[tid] = nsecs;
    @gpu_asked[tid] = (uint64)${what};
  }
`;

/** What came of that. */
const told = (record: string) => `
  MINE
  if (@w) { EMIT(${record}, @gpu_file_at[tid], @gpu_file[tid], @gpu_asked[tid], (int64)args->ret, $mine); }
  delete(@gpu_file[tid]);
  delete(@gpu_file_at[tid]);
  delete(@gpu_asked[tid]);
`;

const device = { name: "device", type: "int", unit: "2^32 × its file system + inode" } as const;
const mine = { name: "mine", type: "int", unit: "1: of the target" } as const;

/** Who opens the device files of GPUs, and what is asked of them. */
export const files: Probe = {
  name: "gpu/files",
  summary: "device files of GPUs, of all processes: opened, asked (ioctl), mapped, closed",
  template: template.replaceAll("FILE\n", () => FILE).replace(/ASKED\((.*)\)\n/g, (_, what: string) => asked(what))
    .replace(/TOLD\((.*)\)\n/g, (_, record: string) => told(record)).replaceAll("MINE", () => MINE).replaceAll("NAMED", () => NAMED)
    .replaceAll("OTHER", () => OTHER),
  tracepoints: ["syscalls:sys_enter_ioctl", "syscalls:sys_exit_ioctl"],
  params: {
    self: { type: "self" },
    opened: { type: "begins", text: "$name", with: ["/dev/nvidia", "/dev/dri/", "/dev/kfd"] },
    known: { type: "begins", text: "$name", with: ["nvidia", "renderD", "card", "kfd"] },
  },
  hot: true,
  widest: 5,
  records: {
    open: [{ name: "began", type: "time" }, { name: "returned", type: "int", unit: "descriptor, or negative errno" }, mine, {
      name: "path",
      type: "text",
    }],
    ioctl: [{ name: "began", type: "time" }, device, { name: "command", type: "int" }, { name: "returned", type: "int" }, mine],
    map: [{ name: "began", type: "time" }, device, { name: "bytes", type: "int", unit: "bytes" }, {
      name: "returned",
      type: "int",
      unit: "address, or negative errno",
    }, mine],
    close: [device, mine],
    device: [device, { name: "name", type: "text" }],
    process: [mine, { name: "name", type: "text" }],
  },
  texts: { "process.name": "name", "device.name": "model" },
  sees: [...callRecords, "process/life.task", "process/life.exec", "process/life.exit"],
  facts: ["code", "places", "gpus"],
  decoder: (tracks) => new GpuDecoder(tracks),
};
