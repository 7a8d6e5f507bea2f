import { LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { Chart } from "../../lib/events/view.ts";
import { heightOf, layout, WIDTH } from "./layout.ts";

/** A picture of the charts, which share the time axis `span` (milliseconds since 1970). */
export function chartsSvg(charts: readonly Chart[], span: readonly [from: number, to: number]): string {
  use([LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);
  const drawing = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height: heightOf(charts) });
  try {
    drawing.setOption(layout(charts, span));
    return drawing.renderToSVGString();
  } finally {
    drawing.dispose();
  }
}
