/** So many requests of a thread a disk may have at once, and answer in another order. */
const MOST = 128;

/** Which requests of a thread to a disk begin where another one ends, as far as they are answered at about one time. */
export class InARow {
  /** Ends at which none has begun, and beginnings at which none has ended, the latest ones; in sectors. */
  readonly #ends = new Set<number>();
  readonly #begins = new Set<number>();

  /** How many more such requests there are with this one: 2 where it fills a gap. */
  add(begin: number, end: number): number {
    if (begin === end) return 0;
    let more = 0;
    if (this.#ends.delete(begin)) more++;
    else remember(this.#begins, begin);
    if (this.#begins.delete(end)) more++;
    else remember(this.#ends, end);
    return more;
  }
}

function remember(sectors: Set<number>, sector: number): void {
  sectors.add(sector);
  if (sectors.size > MOST) { for (const oldest of sectors) return void sectors.delete(oldest); }
}
