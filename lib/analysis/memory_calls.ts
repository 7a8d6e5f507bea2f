import type { Instant } from "../events/span.ts";
import type { IoResult } from "./io_schema.ts";

/** Calls by which memory is asked for and given back, added up over processes and lives of the target. */
export class MemoryCalls {
  readonly #kinds = new Map<string, IoResult["memoryCalls"][number]>();

  instant({ args }: Instant): void {
    const { kind, calls, bytes, ns, failed } = args as { kind: string } & Record<"calls" | "bytes" | "ns" | "failed", number>;
    const sums = this.#kinds.get(kind) ?? { kind, calls: 0, failed: 0, bytes: 0, ns: 0 };
    this.#kinds.set(kind, { kind, calls: sums.calls + calls, failed: sums.failed + failed, bytes: sums.bytes + bytes, ns: sums.ns + ns });
  }

  result(): IoResult["memoryCalls"] {
    return [...this.#kinds.values()].sort((a, b) => b.ns - a.ns || (a.kind < b.kind ? -1 : 1));
  }
}
