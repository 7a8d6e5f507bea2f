import type { StolenTime } from "../events/surroundings.ts";
import type { KernelFiles } from "./files.ts";

/** The kernel tells hundredths of a second, whatever it counts in. */
const TICK_NS = 1e7;

/** Null where no hypervisor ever took any, or nobody says so. */
export async function readStolenTime(files: Pick<KernelFiles, "texts">): Promise<StolenTime | null> {
  const [text] = await files.texts(["/proc/stat"]);
  // `cpu  user nice system idle iowait irq softirq steal guest guest_nice`; a guest's is in user and nice, too.
  const ticks = /^cpu +(.*)$/m.exec(text ?? "")?.[1]?.split(" ").map(Number) ?? [];
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = ticks;
  return steal > 0 ? { ns: steal * TICK_NS, busyNs: (user + nice + system + irq + softirq + steal) * TICK_NS } : null;
}
