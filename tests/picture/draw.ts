import { quantity } from "../../lib/events/quantity.ts";
import { layerOf, layerPanel } from "./layer_panel.ts";
import { type Hue, operatorHue, startGroups, styleSheet } from "./palette.ts";
import type { SeenRun } from "./seen_run.ts";
import { startPanel } from "./start_panel.ts";
import { rect, short, text, widthOf } from "./svg.ts";
import { tokensOf, tokensPanel } from "./tokens_panel.ts";

const WIDTH = 1200, LEFT = 116, RIGHT = WIDTH - 28;
/** Which tokens and which layer are looked at more closely: away from the first ones, whose caches are cold. */
const FIRST_TOKEN = 5, TOKENS = 3, LAYER = 5;

/** The README's picture: a whole run, a few of its tokens, one layer of one of them. */
export function draw(run: SeenRun): string {
  const tokens = tokensOf(run);
  const chosen = tokens.slice(FIRST_TOKEN, FIRST_TOKEN + TOKENS);
  const ops = chosen.length === TOKENS ? layerOf(run, chosen[1]!, LAYER) : [];
  if (ops.length === 0) throw new Error(`The picture wants ${FIRST_TOKEN + TOKENS} generated tokens and a model of ${LAYER + 1} layers.`);
  const { start, operators } = run;
  const rate = operators.rates.generatedPerSecond;
  const program = run.argv.map((word) => word.slice(word.lastIndexOf("/") + 1)).join(" ");

  let svg = text(28, 38, program, { style: "code" });
  const told = `first token after ${quantity(start.totalNs, "ns")}, then ${quantity(rate, "per-second").replace("/s", " tokens a second")}`;
  svg += text(RIGHT, 38, told, { anchor: "end", style: "head" });

  const whole = startPanel(run, LEFT, RIGHT, 52, run.net(tokens.at(-1)!.end) * 1.005);
  let y = whole.bottom + 16;
  svg += whole.svg + legend(
    y,
    startGroups.map(({ name, hue, kinds }) => {
      const ns = start.kinds.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { totalNs }) => sum + totalNs, 0);
      return { name, hue, share: ns / start.totalNs };
    }),
  );

  const some = tokensPanel(run, chosen, LEFT, RIGHT, y + 44);
  svg += beam(whole.scale.x(run.net(some.scale.from)), whole.scale.x(run.net(some.scale.to)), whole.bottom - 14, y + 44, y + 14) + some.svg;

  const one = layerPanel(ops, LEFT, RIGHT, some.bottom + 22);
  svg += beam(some.scale.x(one.scale.from), some.scale.x(one.scale.to), some.bottom - 14, some.bottom + 22) + one.svg;
  svg += text(28, y + 38, `${TOKENS} of ${tokens.length} tokens`, { style: "small bold" });
  svg += text(28, some.bottom + 16, `layer ${LAYER} of one token`, { style: "small bold" });

  y = one.bottom + 16;
  svg += legend(
    y,
    operators.operators.filter(({ calls, share }) => calls > 0 && share !== null).slice(0, 7).map(({ name, share }) => ({
      name,
      hue: operatorHue(name),
      share: share!,
    })),
  );
  return frame(y + 24, svg);
}

/** Leads the eye from a stretch above to the whole width below; `behind` keeps it off what stands between. */
function beam(from: number, to: number, top: number, bottom: number, behind = top): string {
  const waist = (x: number, edge: number) => x + (edge - x) * (behind - top) / (bottom - top);
  const points = [[from, top], [to, top], [RIGHT, bottom], [LEFT, bottom]].map(([x, y]) => `${short(x!)} ${short(y!)}`);
  return waist(from, LEFT) < to ? `<path class="beam" d="M${points.join("L")}Z"/>\n` : "";
}

function legend(y: number, entries: readonly { readonly name: string; readonly hue: Hue; readonly share: number }[]): string {
  let svg = "", x = LEFT;
  for (const { name, hue, share } of entries) {
    const label = `${name} ${quantity(share, "ratio")}`;
    svg += rect(x, y - 9, 10, 10, hue) + text(x + 15, y, label, { style: "small" });
    x += widthOf(label, 11) + 26;
  }
  return svg;
}

function frame(height: number, content: string): string {
  const what = "A llama.cpp process from exec to its last token, three of the tokens, and the operators of one layer";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${short(height)}" width="${WIDTH}" height="${short(height)}" role="img">
<title>${what}</title>
<style>${styleSheet}</style>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${short(height - 1)}" rx="10" class="page"/>
${content}</svg>
`;
}
