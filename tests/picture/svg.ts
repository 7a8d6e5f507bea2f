/** Text in XML. */
export function escape(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** A number as short as a tenth of a pixel allows. */
export function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

export interface TextOptions {
  readonly anchor?: "middle" | "end";
  /** Classes of the style sheet. */
  readonly style?: string;
}

export function text(x: number, y: number, content: string, { anchor, style }: TextOptions = {}): string {
  const end = anchor ? ` text-anchor="${anchor}"` : "";
  return `<text x="${short(x)}" y="${short(y)}"${end}${style ? ` class="${style}"` : ""}>${escape(content)}</text>\n`;
}

export function rect(x: number, y: number, width: number, height: number, style: string, radius = 2): string {
  const round = radius > 0 && width > 2 * radius ? ` rx="${radius}"` : "";
  return `<rect x="${short(x)}" y="${short(y)}" width="${short(Math.max(width, 0.4))}" height="${short(height)}"${round} class="${style}"/>\n`;
}

export function line(x1: number, y1: number, x2: number, y2: number, style: string): string {
  return `<path d="M${short(x1)} ${short(y1)}L${short(x2)} ${short(y2)}" class="${style}"/>\n`;
}

/** Many bars of one colour are one path: thousands of them stay a small file. */
export class Bars {
  readonly #byStyle = new Map<string, string[]>();

  add(x: number, y: number, width: number, height: number, style: string): void {
    const bar = `M${short(x)} ${short(y)}h${short(Math.max(width, 0.3))}v${short(height)}h-${short(Math.max(width, 0.3))}z`;
    const bars = this.#byStyle.get(style);
    if (bars) bars.push(bar);
    else this.#byStyle.set(style, [bar]);
  }

  svg(): string {
    return [...this.#byStyle].map(([style, bars]) => `<path class="${style}" d="${bars.join("")}"/>\n`).join("");
  }
}

/** How wide a text of the given size is, about: enough to decide whether it fits. */
export function widthOf(content: string, size: number): number {
  const capitals = content.match(/[A-Z+%]/g)?.length ?? 0;
  return (content.length + 0.2 * capitals) * size * 0.55;
}

/** As much of a text as fits into `width`, cut with an ellipsis; nothing where hardly anything would be left. */
export function fitting(content: string, size: number, width: number): string {
  const room = Math.floor(width / (size * 0.55));
  return content.length <= room ? content : room < 5 ? "" : `${content.slice(0, room - 1)}…`;
}

/** Round steps for an axis of this length with about `count` of them: 1, 2 or 5 times a power of ten. */
export function tickStep(length: number, count: number): number {
  const rough = length / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((n) => n * power >= rough) ?? 10);
}
