import { counted } from "../events/text.ts";
import { isWeights } from "../target/inference_files.ts";
import { mebibytes } from "./figures.ts";
import type { IoResult } from "./io_schema.ts";
import { fullOf, longest } from "./verdict.ts";

type Verdict = IoResult["verdict"][number];
type File = IoResult["files"][number];
type Device = IoResult["devices"][number];

/** What threads waited for longest, with what shows it and what to try. Times of threads are added, so that several can wait for more than the time watched. */
export function ioVerdict({ files, devices, windows, limits }: Pick<IoResult, "files" | "devices" | "windows" | "limits">): Verdict[] {
  const full = fullOf(limits);
  return longest([...files.map(reads), ...files.map((file) => faults(file, full)), ...devices.map(queued)], windows.ns);
}

function reads({ file, reads, readBytes, readNs, cachedBytes }: File): Omit<Verdict, "share"> {
  const cold = cachedBytes ?? 0;
  const rate = readNs > 0 ? ` at ${Math.round((readBytes * 1e3) / readNs)} MB/s` : "";
  const evidence = `${counted(reads, "read")} of ${mebibytes(readBytes)}${rate}${cold > 0 ? `, ${mebibytes(cold)} of it from the disk` : ""}`;
  return { wait: "reads", of: file, ns: readNs, evidence, advice: adviceFor(file, cachedBytes === null ? null : cold / readBytes) };
}

/** `cold`: which part of what was read came into the page cache from the disk; null where that was not seen. */
function adviceFor(file: string, cold: number | null): string {
  const again = isWeights(file) ? "a second start finds it in memory" : "what is read twice is in memory the second time";
  if (cold === null || cold >= 0.5) return `A faster disk, or larger reads: ${again}, where there is enough.`;
  return "Little came through the page cache from the disk: what is in memory a mapping (no --no-mmap) does not copy, what is read past the cache is read anew each time.";
}

function faults({ file, faults, major, majorNs }: File, full: ReturnType<typeof fullOf>): Omit<Verdict, "share"> {
  const evidence = `${major} of ${counted(faults, "page fault")} waited for the disk`;
  const wait = { wait: "page faults", of: file, ns: majorNs } as const;
  if (full !== null) return { ...wait, evidence: `${evidence}; ${full.evidence}`, advice: full.advice };
  const advice = isWeights(file)
    ? "--no-mmap or --mlock reads it at once, and more memory keeps it."
    : "More memory keeps it, and a second start finds it there.";
  return { ...wait, evidence, advice };
}

/** Where requests wait longer before the device takes them than in it. */
function queued({ device, name, what, requests, meanInFlight, queue, service }: Device): Omit<Verdict, "share"> {
  const ns = queue.totalNs > service.totalNs ? queue.totalNs : 0;
  const most = ({ p50Ns }: Device["queue"]) => Math.round(p50Ns / 1e3);
  const evidence = `${counted(requests, what)}, half of them at most ${most(queue)} µs in the queue and ${most(service)} in the device, ${
    meanInFlight.toFixed(1)
  } at once`;
  return {
    wait: "queue",
    of: name ?? device,
    ns,
    evidence,
    advice: "It is asked for more at once than it takes: fewer and larger requests, or a faster disk.",
  };
}
