/** Words that are 32 bits wide: what stands above them in a register is anything. */
const NARROW = new Set(["device", "ordinal", "kind", "type", "root", "peer", "ranks", "rank", "submits", "fences", "flags"]);

/**
 * Sources that are read together, `n` where only their lower 32 bits are. To read an argument that a function has not got does no harm, so functions share
 * these, and with them a program in the kernel: each takes bpftrace a hundredth of a second to make while the target stands, and a tenth to let go.
 * The first that fits is taken, and a recording does not say which: their order is a part of what its words mean, so none goes, and new ones come last.
 */
const SHARED: readonly (readonly string[])[] = [
  ["0", "1"],
  ["0", "1", "2", "3"],
  ["0", "1", "2", "3n"],
  ["0", "1n", "2n", "3n"],
  ["0", "2", "3n", "4"],
  ["0", "2", "4", "5"],
  ["0", "area34", "5", "area23"],
  ["2", "3n", "4n", "6"],
  ["4", "5n", "6"],
  ["types2D", "area2D", "1"],
  ["types3D", "volume3D", "1"],
  ["types3DOfHip", "volume3DOfHip", "1"],
  ["area45", "6n", "7"],
  ["area56", "7n", "8"],
  ["volumeOfParms", "kindOfParmsn", "1"],
  ["volumeOfPeers", "1"],
  ["0", "1", "3", "4"],
  ["3", "2"],
];

/** Where the words of a call are kept between its beginning and its end. */
export interface Layout {
  /** What is read when a call begins. */
  readonly sources: readonly string[];
  /** Of each word, its place among them. */
  readonly slots: readonly number[];
}

/** What is read for these words, found at these sources (see tables.ts); what a function gives back comes first, at the address that is read here. */
export function layoutOf(words: readonly string[], sources: readonly string[]): Layout {
  const own = sources.map((source, i) => {
    const given = /^\*(?:4:)?(\d)$/.exec(source)?.[1];
    return given ?? `${source}${NARROW.has(words[i]!) ? "n" : ""}`;
  });
  const isGiven = sources[0]?.startsWith("*") ?? false;
  const fits = (layout: readonly string[]) => own.every((source) => layout.includes(source)) && (!isGiven || layout[0] === own[0]);
  const found = own.length === 0 ? own : SHARED.find(fits) ?? own;
  return { sources: found, slots: own.map((source) => found.indexOf(source)) };
}
