import type { GpuFileUse } from "../events/gpu.ts";
import type { Instant } from "../events/span.ts";
import { isCommonNode, isNumberedNode } from "../target/system_names.ts";

/** Which GPUs processes use, by the nodes that they hold. */
export class GpuNodes {
  /** By process: how many openings of each node. None is known of a process that ran before anybody looked, until it shows one. */
  readonly #held = new Map<number, Map<string, number>>();
  readonly #targets = new Set<number>();

  /** Of the target: a process begins, or another program in it, or ends. */
  life({ category, track: { pid }, args }: Instant): void {
    if (category === "process.exit") {
      this.#targets.delete(pid);
      this.#held.delete(pid);
    }
    if (category !== "process.exec" && category !== "process.fork") return;
    this.#targets.add(pid);
    const held = this.#held.get(pid);
    if (category === "process.exec") this.#held.set(pid, new Map());
    else if (held) this.#held.set(args!.child as number, new Map(held));
  }

  /** What comes while nobody looks is not known. */
  ended(): void {
    this.#targets.clear();
    this.#held.clear();
  }

  used({ device, pid, isTarget, what, errno }: GpuFileUse): void {
    if (isTarget) this.#targets.add(pid);
    if (what === "open" && errno !== 0) return;
    let held = this.#held.get(pid);
    const openings = held?.get(device) ?? 0;
    if (what === "close") {
      if (openings > 1) held!.set(device, openings - 1);
      else held?.delete(device);
    } else if (what === "open" || (openings === 0 && isNumberedNode(device))) {
      if (!held) this.#held.set(pid, held = new Map());
      held.set(device, openings + 1);
    }
  }

  /** Whether what a process asks of a device file may be asked of a GPU that the target uses. */
  isShared(device: string, pid: number): boolean {
    const theirs = isNumberedNode(device) ? [device] : this.#numberedOf([pid]), targets = this.#numberedOf([...this.#targets]);
    if (theirs === null || targets === null) return true;
    if (theirs.some((node) => targets.includes(node))) return true;
    // Which render node is that of nvidia0 nobody says.
    return theirs.length > 0 && targets.length > 0 && !theirs.some((node) => targets.some((target) => kindOf(node) === kindOf(target)));
  }

  /** Null: nobody knows. */
  #numberedOf(pids: readonly number[]): readonly string[] | null {
    const held = pids.map((pid) => this.#held.get(pid)), nodes = held.flatMap((nodes) => [...nodes?.keys() ?? []]);
    const numbered = nodes.filter((node) => isNumberedNode(node));
    if (held.length === 0 || held.includes(undefined)) return null;
    // What is none of both is a node by another name: a link, or what `--redact` calls it.
    return numbered.length > 0 || nodes.every((node) => isCommonNode(node)) ? numbered : null;
  }
}

/** `nvidia0` is an `nvidia`. */
function kindOf(node: string): string {
  return node.replace(/\d+$/, "");
}
