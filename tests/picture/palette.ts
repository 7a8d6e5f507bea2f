import type { ColdstartKind } from "../../lib/analysis/coldstart_schema.ts";

/** Colours by role, for a light page and for a dark one; GitHub shows a picture by the reader's own setting. */
const light = {
  page: "#ffffff",
  edge: "#d1d9e0",
  ink: "#1f2328",
  pale: "#59636e",
  grid: "#e7ecf0",
  beam: "#0969da0f",
  quiet: "#cfd8e1",
  inside: "#ffffff",
};
const dark = {
  page: "#0d1117",
  edge: "#30363d",
  ink: "#e6edf3",
  pale: "#9198a1",
  grid: "#20262e",
  beam: "#4493f81a",
  quiet: "#363e49",
  inside: "#0d1117",
};
const hues = {
  blue: ["#2f6fde", "#4c8dff"],
  sky: ["#0ea5c6", "#35c3e0"],
  green: ["#1f9d57", "#3fbf74"],
  amber: ["#e08a00", "#f2ab3c"],
  violet: ["#8250df", "#a475f9"],
  pink: ["#d6417f", "#f0699f"],
  teal: ["#0f8f83", "#2bb8a9"],
  red: ["#cf222e", "#f85149"],
} as const;
export type Hue = keyof typeof hues | "quiet";

/** What of a cold start is told apart by colour: the words of the legend, and the kinds that it stands for. */
export const startGroups: readonly { readonly name: string; readonly hue: Hue; readonly kinds: readonly ColdstartKind[] }[] = [
  { name: "files", hue: "teal", kinds: ["read", "open", "map"] },
  { name: "libraries", hue: "violet", kinds: ["library"] },
  { name: "page faults", hue: "amber", kinds: ["fault", "memory", "lock"] },
  { name: "model load", hue: "blue", kinds: ["load"] },
  { name: "context", hue: "sky", kinds: ["context"] },
  { name: "prefill", hue: "green", kinds: ["decode", "encode", "sample", "listen"] },
  { name: "unexplained", hue: "quiet", kinds: ["unexplained"] },
];

const operatorHues: Readonly<Record<string, Hue>> = {
  MUL_MAT: "blue",
  MUL_MAT_ID: "blue",
  FLASH_ATTN_EXT: "amber",
  ROPE: "green",
  ADD: "pink",
  GLU: "violet",
  SET_ROWS: "teal",
  GET_ROWS: "sky",
  RMS_NORM: "red",
};

/** `name`: perhaps with what was fused behind it. */
export function operatorHue(name: string): Hue {
  return operatorHues[name.split(" ")[0]!] ?? "quiet";
}

function variables(colours: Readonly<Record<string, string>>, index: 0 | 1): string {
  const all = { ...colours, ...Object.fromEntries(Object.entries(hues).map(([name, pair]) => [name, pair[index]])) };
  return Object.entries(all).map(([name, value]) => `--${name}:${value}`).join(";");
}

export const styleSheet = `
:root{${variables(light, 0)}}
@media (prefers-color-scheme:dark){:root{${variables(dark, 1)}}}
text{font:12px ui-sans-serif,system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--ink)}
.pale{fill:var(--pale)}.small{font-size:11px}.tiny{font-size:10px}.head{font-size:15px;font-weight:600}.bold{font-weight:600}
.code{font-family:ui-monospace,"SF Mono",Menlo,"DejaVu Sans Mono",monospace;font-size:12.5px}
.inside{fill:var(--inside)}.page{fill:var(--page);stroke:var(--edge)}.grid{stroke:var(--grid);fill:none}.mark{stroke:var(--pale);fill:none;stroke-dasharray:2 3}
.beam{fill:var(--beam)}.quiet{fill:var(--quiet)}
${Object.keys(hues).map((name) => `.${name}{fill:var(--${name})}`).join("")}
`;
