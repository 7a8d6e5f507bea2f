/** The middle of some figures (those that are numbers), and where the true middle is in 95 of 100 cases. */
export interface Middle {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

/**
 * The interval is made of two of the figures themselves, counted from both ends: how many lie on one side of the true median is a matter of
 * tossing a coin for each. So nothing is assumed about how they are spread. With fewer than six there is no such interval: it is their range.
 */
export function middle(figures: readonly number[]): Middle {
  const sorted = figures.filter((figure) => !Number.isNaN(figure)).sort((a, b) => a - b);
  const count = sorted.length;
  if (count === 0) return { median: NaN, low: NaN, high: NaN, count };
  const out = outside(count);
  const half = count >> 1;
  const median = count % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
  return { median, low: sorted[out]!, high: sorted[count - 1 - out]!, count };
}

/** How many figures may be left out at each end, so that both ends together miss the median in at most 5 of 100 cases. */
function outside(count: number): number {
  let chance = 2 ** -count;
  let sum = chance;
  let k = 0;
  for (; sum <= 0.025 && k < count / 2; k++) {
    chance *= (count - k) / (k + 1);
    sum += chance;
  }
  return Math.max(0, k - 1);
}

/**
 * By how much `more` is above `less`, both of the same rounds. What befell a round befell both, so the middle of the differences tells more than the difference
 * of middles.
 */
export function differences(more: readonly number[], less: readonly number[]): Middle {
  return middle(more.map((figure, round) => figure - less[round]!));
}

/**
 * By how many times `ours` is as much as `theirs`, both of the same rounds, and whether that is at most `most`. Null: it cannot be told, because in this hour
 * `theirs` may be nothing, of which any figure is any number of times.
 */
export function timesAsMuch(
  ours: readonly number[],
  theirs: readonly number[],
  most: number,
): { readonly times: Middle; readonly isMet: boolean | null } {
  const times = middle(ours.map((figure, round) => theirs[round]! > 0 ? figure / theirs[round]! : Infinity));
  const mine = middle(ours), others = middle(theirs);
  if (others.low > 0) return { times, isMet: times.median <= most };
  if (mine.high <= 0) return { times, isMet: true };
  return { times, isMet: mine.low > most * Math.max(others.high, 0) ? false : null };
}
