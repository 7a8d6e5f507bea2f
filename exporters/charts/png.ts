import { initWasm, Resvg } from "@resvg/resvg-wasm";
import renderer from "@resvg/resvg-wasm/index_bg.wasm" with { type: "bytes" };
import font from "dejavu-fonts-ttf/ttf/DejaVuSans.ttf" with { type: "bytes" };

let isReady: Promise<void> | undefined;

/** Pixels for each of the picture's own. */
const SCALE = 2;

/** A picture of dots, with a font of its own: a server has none. */
export async function png(svg: string): Promise<Uint8Array> {
  await (isReady ??= initWasm(renderer));
  const drawing = new Resvg(svg, { fitTo: { mode: "zoom", value: SCALE }, font: { fontBuffers: [font], defaultFontFamily: "DejaVu Sans" } });
  return drawing.render().asPng();
}
