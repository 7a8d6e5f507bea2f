import type { OpenExporter } from "../lib/events/exporter.ts";

/** A file format, found by the end of the file's name. Loaded when it is used: most runs write one. */
export interface Format {
  /** With its dot: `.pftrace`. Each may be followed by `.gz`. */
  readonly extension: string;
  /** For people: what opens it. */
  readonly opensWith: string;
  /** It holds graphs of operators, and nothing else. */
  readonly graph?: true;
  load(): Promise<OpenExporter>;
}

export const formats: readonly Format[] = [
  { extension: ".pftrace", opensWith: "ui.perfetto.dev", load: async () => (await import("./perfetto.ts")).openPerfetto },
  { extension: ".graph.json", opensWith: "jq, or whatever draws graphs", graph: true, load: async () => (await import("./graph.ts")).openGraphJson },
  { extension: ".dot", opensWith: "dot -Tsvg, or xdot", graph: true, load: async () => (await import("./graph.ts")).openDot },
  { extension: ".mmd", opensWith: "mermaid.live", graph: true, load: async () => (await import("./graph.ts")).openMermaid },
  { extension: ".json", opensWith: "ui.perfetto.dev or chrome://tracing", load: async () => (await import("./chrome.ts")).openChrome },
  { extension: ".jsonl", opensWith: "jq, or anything that reads lines of JSON", load: async () => (await import("./jsonl.ts")).openJsonl },
];

/** The format that a path asks for, or undefined when its end is none that is known. */
export function formatOf(path: string): Format | undefined {
  const name = withoutGzip(path);
  return formats.find(({ extension }) => name.endsWith(extension));
}

export function isGzip(path: string): boolean {
  return path.endsWith(".gz");
}

function withoutGzip(path: string): string {
  return isGzip(path) ? path.slice(0, -".gz".length) : path;
}
