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
 * bpftrace 0.17 takes a tracepoint that stands in a list of several whose fields are read, and in another block, for two parts of one program, which the
 * kernel refuses: such a list becomes a block for each.
 */
export function apart(pieces: readonly Piece[]): readonly Piece[] {
  const uses = new Map<string, number>();
  for (const { attach } of pieces) for (const point of attach) uses.set(point, (uses.get(point) ?? 0) + 1);
  return pieces.flatMap((piece) => {
    const { block, attach } = piece;
    const isTwofold = attach.length > 1 && block.body.includes("args->") && attach.some((point) => uses.get(point)! > 1);
    return isTwofold ? attach.map((point) => ({ ...piece, attach: [point] })) : [piece];
  });
}
