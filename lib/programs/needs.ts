import type { Probe } from "./probe.ts";
import { parseTemplate, replaceConditions } from "./template.ts";

/** What a probe cannot do without, read off the probe itself. */
export interface ProbeNeeds {
  /** Tracepoints without which it makes no sense. */
  readonly tracepoints: readonly string[];
  /** See {@link Probe.fuller}. */
  readonly fuller: Probe["fuller"] | null;
  /** Hardware counters, by bpftrace's names. */
  readonly counters: readonly string[];
  /** It follows the kernel's own structures: BTF has to describe them. */
  readonly kernelTypes: boolean;
  /** It stops processes: a helper that bpftrace allows only with `--unsafe`. */
  readonly unsafe: boolean;
  /** Beginning of the file name of the library whose functions it probes, or null. */
  readonly library: string | null;
}

export function needsOf(probe: Probe): ProbeNeeds {
  return {
    tracepoints: probe.tracepoints ?? [],
    fuller: probe.fuller ?? null,
    counters: probe.counters ?? [],
    kernelTypes: parseTemplate(replaceConditions(probe.template, () => true)).some(({ predicate, body }) =>
      /\bcurtask\b|\(struct \w+ \*\)/.test(predicate + withoutComments(body))
    ),
    unsafe: probe.unsafe ?? false,
    library: probe.library?.prefix ?? null,
  };
}

function withoutComments(body: string): string {
  return body.replaceAll(/\/\/.*/g, "");
}
