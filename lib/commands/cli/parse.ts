import { MOST_BUFFER_PAGES } from "../../machine/bpftrace.ts";
import { type Layer, layers } from "../../programs/layers.ts";
import { InvalidArgumentError } from "@commander-js/extra-typings";

/** Values of options: each parser throws what commander words as an error of that option. */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds that a timer can count: nearly 25 days. */
const LONGEST = 2 ** 31 - 1;

/** `10s`, `1.5m`, `500ms` → milliseconds. */
export function parseDuration(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  const value = found ? Number(found[1]) * UNITS[found[2]!]! : 0;
  if (!(value > 0)) throw new InvalidArgumentError("It is a number above 0 with a unit: 500ms, 10s, 5m, 1h.");
  return countable(value);
}

/** A duration, or a number of seconds: `5`, `500ms`. */
export function parseInterval(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? 1000 * Number(text) : parseDuration(text);
  if (value < 100) throw new InvalidArgumentError("It is 100ms at least.");
  return Math.round(countable(value));
}

function countable(milliseconds: number): number {
  if (milliseconds > LONGEST) throw new InvalidArgumentError("It is 596h at most.");
  return milliseconds;
}

/** `operators,io` → those layers, each once. */
export function parseLayers(text: string): readonly Layer[] {
  const asked = text.split(",").map((word) => word.trim());
  const unknown = asked.find((word) => !(layers as readonly string[]).includes(word));
  if (unknown !== undefined) throw new InvalidArgumentError(`'${unknown}' is none of ${layers.join(", ")}.`);
  return layers.filter((layer) => asked.includes(layer));
}

/** A whole number from `least` on. */
export function parseCount(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`It is a whole number from ${least} on.`);
    }
    return value;
  };
}

/** `2%` → 0.02. */
export function parsePercent(text: string): number {
  const found = /^(\d+(?:\.\d+)?) ?%$/.exec(text);
  if (!found || Number(found[1]) === 0) throw new InvalidArgumentError("It is a percentage above 0: 2%, 0.5%.");
  return Number(found[1]) / 100;
}

/** `1.5x`, `2` → 1.5, 2. */
export function parseFactor(text: string): number {
  const found = /^(\d+(?:\.\d+)?)x?$/.exec(text);
  if (!found || !(Number(found[1]) > 1)) throw new InvalidArgumentError("It is a factor above 1: 1.5x, 2x.");
  return Number(found[1]);
}

const RATES: Readonly<Record<string, number>> = { "": 1, k: 1e3, M: 1e6 };

/** `25000/s`, `25k/s` → hits a second. */
export function parseRate(text: string): number {
  const found = /^(\d+(?:\.\d+)?)([kM]?)\/s$/.exec(text);
  const value = found ? Number(found[1]) * RATES[found[2]!]! : 0;
  if (!(value > 0)) throw new InvalidArgumentError("It is a number of hits in a second: 25000/s, 25k/s.");
  return value;
}

export function parsePattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new InvalidArgumentError(`It is no regular expression: ${error instanceof Error ? error.message.replace(/^.*\/: /, "") : error}.`);
  }
}

/** bpftrace's buffers want a power of two. */
export function parsePages(text: string): number {
  const value = parseCount(1)(text);
  if (value > MOST_BUFFER_PAGES) throw new InvalidArgumentError(`It is ${MOST_BUFFER_PAGES} at most.`);
  if ((value & (value - 1)) !== 0) throw new InvalidArgumentError("It is a power of two: 64, 1024, 4096.");
  return value;
}

/** For an option that may be repeated; `false` comes from its `--no-…`. */
export function collect(path: string, before: string[] | false | undefined): string[] {
  if (path === "") throw new InvalidArgumentError("It is the path of a file.");
  return [...before || [], path];
}
