/** Makes bytes of this many a request, unless somebody says otherwise. */
export const BLOCK = 4096;

/** The command line of fio: one process that makes so many requests. */
export function fioCommand(device: string, options: Readonly<Record<string, string | number>>): string[] {
  const all = { name: "io", filename: device, direct: 1, bs: BLOCK, ioengine: "libaio", thread: 1, ...options, "output-format": "json" };
  return ["fio", ...Object.entries(all).map(([name, value]) => `--${name}=${value}`)];
}

/** Writes a list of so many blocks of a device for fio to read (`read_iolog`). `place`: of each, where it lies. */
export function listOfReads(file: string, device: string, blocks: number, place: (block: number) => number): string {
  const reads = Array.from({ length: blocks }, (_, i) => `${device} read ${place(i) * BLOCK} ${BLOCK}`);
  Deno.writeTextFileSync(file, ["fio version 2 iolog", `${device} add`, `${device} open`, ...reads, `${device} close`, ""].join("\n"));
  return file;
}

/** The last one first. */
export function backwards(file: string, device: string, blocks: number): string {
  return listOfReads(file, device, blocks, (block) => blocks - 1 - block);
}

/** `runtime`: milliseconds. Of these the job's thread was on a processor for so many percent. */
export interface FioJob {
  readonly usr_cpu: number;
  readonly sys_cpu: number;
  readonly read: {
    readonly runtime: number;
    readonly total_ios: number;
    readonly lat_ns: { readonly max: number };
    readonly clat_ns: { readonly percentile: Readonly<Record<string, number>> };
  };
  readonly write: { readonly total_ios: number };
  readonly error: number;
}

/** What fio said at its end, whatever others said before and after. */
export function jobOf(text: string): FioJob {
  const from = text.indexOf("{\n"), to = text.lastIndexOf("\n}");
  return JSON.parse(text.slice(from, to + 2)).jobs[0];
}
