import { atLeast, type Bpftrace, hasRingBuffer } from "./bpftrace.ts";
import type { KernelFiles } from "./files.ts";
import { numbersOf } from "./numa.ts";

/** What of a machine the size of a buffer between kernel and bpftrace depends on. */
export interface BufferUnits {
  /** Processors that are online. */
  readonly cpus: number;
  /** Processors that the kernel is ready for, those among them that are switched off or may be plugged in. */
  readonly possibleCpus: number;
  /** Of a page: 4096, and with some kernels for aarch64 16 or 64 times 1024. */
  readonly pageBytes: number;
}

/** Buffers are asked for in pages of that size, whatever a page is. */
const ASKED_PAGE_BYTES = 4096;
/** So many processors may have a buffer each of what was asked for. */
const MOST_BUFFERS = 8;
const FEWEST_BYTES = 64 * ASKED_PAGE_BYTES;

/**
 * The pages that bpftrace is to be asked for, and the bytes of the buffer that it makes of them. Without a ring buffer each processor has a buffer, and many
 * of them have no more together than a few: what is frequent is in rows of maps.
 */
export function bufferOf(bpftrace: Bpftrace, askedPages: number, { cpus, possibleCpus, pageBytes }: BufferUnits): { pages: number; bytes: number } {
  const isRing = hasRingBuffer(bpftrace), countsPages = atLeast(bpftrace.version, 0, 25);
  let bytes = askedPages * ASKED_PAGE_BYTES;
  for (let buffers = isRing ? 1 : cpus; buffers > MOST_BUFFERS && bytes > FEWEST_BYTES; buffers /= 2) bytes /= 2;
  // Instead of fewer pages than processors 0.25 and later take as many. The kernel wants a power of two of whole pages; to that libbpf rounds up.
  const fewest = countsPages ? 2 ** Math.ceil(Math.log2(possibleCpus)) : 1;
  bytes = Math.max(bytes, fewest * pageBytes);
  // A ring buffer before 0.25 has so many times 4096 bytes; everything else is told in the machine's pages.
  return { pages: bytes / (isRing && !countsPages ? 4096 : pageBytes), bytes };
}

export async function readBufferUnits(files: Pick<KernelFiles, "texts">): Promise<BufferUnits> {
  const [cpuinfo, possible, smaps] = await files.texts(["/proc/cpuinfo", "/sys/devices/system/cpu/possible", "/proc/self/smaps"]);
  const cpus = cpuinfo?.match(/^processor\s*:/gm)?.length ?? 1;
  return {
    cpus,
    possibleCpus: Math.max(cpus, numbersOf(possible?.trim() ?? "").length),
    pageBytes: Number(/^KernelPageSize:\s*(\d+) kB$/m.exec(smaps ?? "")?.[1] ?? 4) * 1024,
  };
}
