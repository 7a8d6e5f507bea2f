import type { Probe } from "./probe.ts";
import type { Block } from "./template.ts";

/** A block of a probe's template, and where it stands. */
export interface Piece {
  readonly block: Block;
  readonly attach: readonly string[];
  readonly probe: Probe;
  readonly kinds: ReadonlyMap<string, number>;
}

/**
 * A tracepoint in a list of several that stands in another block, too: there bpftrace 0.17 runs that other block twice, or, where fields are read, takes both for
 * parts of one program, which the kernel refuses. So such a list becomes a block for each.
 */
export function apart(pieces: readonly Piece[]): readonly Piece[] {
  const uses = new Map<string, number>();
  for (const { attach } of pieces) for (const point of attach) uses.set(point, (uses.get(point) ?? 0) + 1);
  return pieces.flatMap((piece) => {
    const { attach } = piece;
    const isTwofold = attach.length > 1 && attach.some((point) => point.startsWith("tracepoint:") && uses.get(point)! > 1);
    return isTwofold ? attach.map((point) => ({ ...piece, attach: [point] })) : [piece];
  });
}
