import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import { parseDevices } from "../machine/disks.ts";
import { deviceNames } from "./host_facts.ts";

Deno.test("host facts: a device has the name of its link, and one without has that of the disk to which it leads", async () => {
  const counts = "10 3 140 1 0 0 0 0 0 21 18";
  const diskstats = `   7       0 loop0 ${counts}\n 259       0 nvme0c1n1 ${counts}\n 259       1 nvme0n1 ${counts}\n`;
  await withMachine({ "/proc/diskstats": diskstats, "/sys/dev/block/.keep": "" }, async (files, root) => {
    const link = (number: string, target: string) => Deno.symlinkSync(`../../devices/${target}`, `${root}/sys/dev/block/${number}`);
    link("259:1", "virtual/nvme-subsystem/nvme-subsys0/nvme0n1");
    link("259:2", "virtual/nvme-subsystem/nvme-subsys0/nvme0n1/nvme0n1p1");
    link("8:0", "pci0000:00/sda");
    const names = parseDevices((await deviceNames(files)).devices);
    assert.deepEqual(Object.fromEntries(names), {
      "7:0": "loop0",
      "8:0": "sda",
      "259:0": "nvme0n1",
      "259:1": "nvme0n1",
      "259:2": "nvme0n1p1",
    });
  });
});
