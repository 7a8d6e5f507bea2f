/**
 * For how long others had this machine's processors while it wanted them, since it started: the column `steal` of /proc/stat, in nanoseconds and in steps of
 * 10 ms. A program that is stopped so knows nothing of it, between two readings of its clock as anywhere else.
 */
export function stolenNs(): number {
  // cpu <user> <nice> <system> <idle> <iowait> <irq> <softirq> <steal> …
  const [all] = Deno.readTextFileSync("/proc/stat").split("\n");
  return Number(all!.split(/\s+/)[8]) * 1e7;
}
