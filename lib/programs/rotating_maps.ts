import type { Probe } from "./probe.ts";
import { OFFERED, ROWS, SWEPT } from "./schema.ts";
import { WHO } from "./who.ts";

/**
 * Rows that a map holds, by the pages of the buffer that somebody asked for: with 4096 two thirds of a second of what bpftrace can print, so that a burst
 * which nothing slows, of a small model, is taken whole. What comes beyond is refused by the kernel, and so lost and counted. Never less than the
 * tensors of a graph, which are keys of a map too.
 */
export function rowsPerMap(bufferPages: number): number {
  return Math.max(4096, bufferPages * 16);
}

/** Every row is as wide as the widest: a record of more numbers would make all of them dearer, and is printed, unless its probe asks for more. */
const WIDEST = 3;

const TICK_MS = 100;
/** Longer than bpftrace takes to print a full map on a machine that has other things to do. */
const GIVEN_UP_NS = 10e9;

/**
 * The way of frequent records where bpftrace has no ring buffer (before 0.19): there each printed line wakes the reader at the cost of the traced thread, which
 * is several times what it costs to put a row into a map. One of three maps takes the rows; at a tick the next one takes over, and the one that
 * was relieved a tick ago, to which nobody writes any more, is printed and cleared. bpftrace removes the mark in `@sweeping` when it has done so, and
 * nothing moves on before: a slow bpftrace means a full map, and never a map that is written, printed and cleared at once.
 */
export class RotatingMaps {
  /** Some record was stored: the maps exist. */
  used = false;

  private constructor(readonly records: readonly string[], readonly width: number) {}

  /** The records that rows are for: frequent ones of a few numbers. Null where there is none, or nothing is so frequent that it pays. */
  static for(probes: readonly Probe[]): RotatingMaps | null {
    if (!probes.some(({ hot }) => hot)) return null;
    const frequent = probes.filter(({ hot, perToken }) => hot || perToken).flatMap(({ name: probe, records, widest = WIDEST }) =>
      Object.entries(records).map(([name, fields]) => ({ name: `${probe}.${name}`, fields, widest }))
    );
    const numbers = frequent.filter(({ fields, widest }) => fields.length <= widest && fields.every(({ type }) => type !== "text"));
    if (numbers.length === 0) return null;
    return new RotatingMaps(numbers.map(({ name }) => name), Math.max(...numbers.map(({ fields }) => fields.length)));
  }

  takes(record: string): boolean {
    return this.records.includes(record);
  }

  /**
   * Rows of a map have one shape: a record with fewer fields is filled up. It is put together once: for each of the maps anew, bpftrace compiles
   * for a fifth of a second more.
   */
  store(kind: number, values: readonly string[]): string {
    this.used = true;
    const filled = [String(kind), WHO, ...values, ...Array<string>(this.width - values.length).fill("0")];
    const row = `(${filled.map((value) => `(int64)(${value})`).join(", ")})`;
    const into = (map: number) => `@${ROWS}${map}[nsecs, cpu] = $row; @${OFFERED}${map} = count();`;
    return `$row = ${row}; if (@filling == 0) { ${into(0)} } else if (@filling == 1) { ${into(1)} } else { ${into(2)} }`;
  }

  /** Statements for `BEGIN`. */
  begin(): string[] {
    return this.used ? ["@filling = 0; @relieved = nsecs;"] : [];
  }

  /** What moves the maps on. The line `(8, <nsecs>)` promises that every row of before that time has been printed. */
  blocks(): string[] {
    if (!this.used) return [];
    const turn = (filling: number) => {
      const [next, relieved] = [(filling + 1) % 3, (filling + 2) % 3];
      const sweep = `print(@${ROWS}${relieved}); clear(@${ROWS}${relieved}); print(@${OFFERED}${relieved}); print((${SWEPT}, @relieved));`;
      return `${sweep} clear(@sweeping); @relieved = nsecs; @filling = ${next};`;
    };
    // Where bpftrace's buffer was full it never learnt that it should sweep: after a while that is tried again.
    return [
      `interval:ms:${TICK_MS} { if (@sweeping[0] == 0 || nsecs - @relieved > ${GIVEN_UP_NS}) { @sweeping[0] = 1; ` +
      `if (@filling == 0) { ${turn(0)} } else if (@filling == 1) { ${turn(1)} } else { ${turn(2)} } } }`,
    ];
  }
}
