/** What was told beside what was counted: as much, but for what was lost or hidden from it, and for what it may have seen besides. */
export interface Told {
  readonly told: number;
  readonly counted: number;
  readonly lost: number;
  /** At most. */
  readonly hidden: number;
  /** Before the count began, and behind it, at most. */
  readonly besides: number;
}

export function isComplete({ told, counted, lost, hidden, besides }: Told): boolean {
  return told >= counted - lost - hidden && told <= counted + besides;
}
