/** What a line of sums tells of: seconds since 1970 at its end, and how many they are. */
export interface Interval {
  readonly timestamp: number;
  readonly interval_s: number;
}

export interface Piece<Line> {
  readonly line: Line;
  /** How much of the line's time. */
  readonly part: number;
  /** Whether the line ends here: what it says of its end is said of no other piece. */
  readonly isLast: boolean;
}

/** Time that is drawn as one, and what lines tell of it: in order of their ends. */
export interface Stretch<Line> {
  readonly begin: number;
  readonly end: number;
  /** Those of which lines tell: once, however many lines do. */
  readonly seconds: number;
  readonly pieces: readonly Piece<Line>[];
}

/** Moments that lie nearer to each other than this share of an interval are one: clocks are told rounded. */
const SAME = 0.01;

export function beginOf({ timestamp, interval_s }: Interval): number {
  return timestamp - interval_s;
}

/** Whether a line ends before another one begins. */
export function isBefore(line: Interval, other: Interval): boolean {
  return line.timestamp <= beginOf(other) + other.interval_s * SAME;
}

/** Whether a line begins where the one before it ends. */
export function goesOn(line: Interval, next: Interval): boolean {
  return isBefore(line, next) && beginOf(next) - line.timestamp <= Math.min(line.interval_s, next.interval_s) * SAME;
}

/** Of lines in order of their ends, before a place: where the last one is that had ended when another one began; -1 where none had. */
export function placeBefore(lines: readonly Interval[], line: Interval, before = lines.length): number {
  let at = before - 1;
  while (at >= 0 && !isBefore(lines[at]!, line)) at--;
  return at;
}

/** Of how much time lines tell: once, however many do. */
export function secondsOf(lines: readonly Interval[]): number {
  let seconds = 0, end = -Infinity;
  for (const line of lines.toSorted((a, b) => beginOf(a) - beginOf(b))) {
    seconds += Math.max(0, line.timestamp - Math.max(end, beginOf(line)));
    end = Math.max(end, line.timestamp);
  }
  return seconds;
}

/**
 * Cuts the time of which lines tell wherever one begins or ends, and puts neighbours together: none is shorter than half of what intervals mostly are, and
 * there are at most `most`. Lines of runs that went on at once cover the same time: each gives a stretch its part, as if what it counted had come evenly.
 */
export function stretchesOf<Line extends Interval>(lines: readonly Line[], most: number): Stretch<Line>[] {
  const { cuts, from, to } = cutsOf(lines);
  const begun = cuts.map(() => 0);
  for (const line of lines) {
    begun[from.get(line)!]!++;
    begun[to.get(line)!]!--;
  }
  let open = 0;
  // What is between a cut and the next one.
  const told = [...cuts.keys()].filter((cut) => (open += begun[cut]!) > 0);
  const seconds = (cut: number) => cuts[cut + 1]! - cuts[cut]!;
  const least = told.length <= most ? 0 : told.reduce((sum, cut) => sum + seconds(cut), 0) / most, half = usual(lines) / 2;
  const stretches: { begin: number; end: number; seconds: number; pieces: Piece<Line>[] }[] = [];
  /** By cut: in which stretch. */
  const places = new Map<number, number>();
  for (const cut of told) {
    const last = stretches.at(-1), begin = cuts[cut]!, end = cuts[cut + 1]!;
    if (last && (last.seconds < least || last.seconds < half && last.end === begin)) {
      last.end = end;
      last.seconds += seconds(cut);
    } else stretches.push({ begin, end, seconds: seconds(cut), pieces: [] });
    places.set(cut, stretches.length - 1);
  }
  for (const line of lines) {
    const begin = cuts[from.get(line)!]!, end = cuts[to.get(line)!]!;
    for (const stretch of stretches.slice(places.get(from.get(line)!), places.get(to.get(line)! - 1)! + 1)) {
      const part = (Math.min(end, stretch.end) - Math.max(begin, stretch.begin)) / (end - begin);
      stretch.pieces.push({ line, part, isLast: end <= stretch.end });
    }
  }
  return stretches;
}

/** The median of intervals. */
function usual(lines: readonly Interval[]): number {
  return lines.map(({ interval_s }) => interval_s).sort((a, b) => a - b)[lines.length >> 1] ?? 0;
}

/** Moments in order, and by line at which of them it begins and ends. */
function cutsOf<Line extends Interval>(lines: readonly Line[]) {
  const cuts: number[] = [], from = new Map<Line, number>(), to = new Map<Line, number>();
  const edges = lines.flatMap((line) => [{ at: beginOf(line), line, places: from }, { at: line.timestamp, line, places: to }]);
  for (const { at, line, places } of edges.sort((a, b) => a.at - b.at)) {
    if (cuts.length === 0 || at - cuts.at(-1)! > line.interval_s * SAME) cuts.push(at);
    places.set(line, cuts.length - 1);
  }
  return { cuts, from, to };
}
