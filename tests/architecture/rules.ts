import type { Module } from "./modules.ts";

/**
 * The architecture: a file imports from its own room or from an earlier one. What would have to point backwards is a parameter instead.
 * Programs come before tracing and timeline, because these two run and read what a program is: its text and its schema.
 */
export const rooms = [
  "events",
  "machine",
  "target",
  "programs",
  "tracing",
  "timeline",
  "probes",
  "analysis",
  "exporters",
  "session",
  "commands",
  "mod",
  "main",
] as const;

/** What only some files may name, and why that is so. */
const words: readonly { readonly what: string; readonly pattern: RegExp; readonly allowed: RegExp }[] = [
  { what: "ends the process or handles signals", pattern: /Deno\.(exit|addSignalListener|removeSignalListener)\b/, allowed: /^main\.ts$/ },
  {
    what: "prints",
    pattern: /\bconsole\.|Deno\.(stdout|stderr)\b|process\.(stdout|stderr)\.write|\b(alert|confirm|prompt)\(/,
    allowed: /^main\.ts$/,
  },
  {
    // Others get the time as a parameter, so that a replay and a test need none.
    what: "reads a clock",
    pattern: /\bDate\.now\b|\bperformance\.now\b|\bnew Date\(\)|\bTemporal\.Now\b|\bDeno\.osUptime\b|\bprocess\.(hrtime|uptime)\b/,
    allowed: /^(main\.ts|lib\/commands\/.*)$/,
  },
];

/** Everything in these modules that breaks a rule, as sentences; tests may import and do anything. */
export function violations(modules: readonly Module[]): string[] {
  return modules.filter(({ path }) => !isTest(path)).flatMap((module) => [
    ...forbiddenName(module.path),
    ...module.imports.flatMap((target) => forbiddenImport(module.path, target)),
    ...words.filter(({ pattern, allowed }) => !allowed.test(module.path) && pattern.test(withoutComments(module.text)))
      .map(({ what }) => `${module.path} ${what}`),
  ]);
}

/** `lib/timeline/merge.ts` → `timeline`; null for a file that stands in no room. */
export function roomOf(path: string): string | null {
  const [top, next] = path.split("/") as [string, string | undefined];
  const room = top === "lib" ? next! : next === undefined ? top.replace(/\.ts$/, "") : top;
  return (rooms as readonly string[]).includes(room) ? room : null;
}

function isTest(path: string): boolean {
  return path.startsWith("tests/") || path.endsWith("_test.ts");
}

function forbiddenName(path: string): string[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return [
    ...(roomOf(path) === null ? [`${path} stands in no room`] : []),
    ...(/^(utils?|helpers?|common|misc)\b/.test(name) ? [`${path} is named after nothing that it does`] : []),
  ];
}

/** `target` is a path in the repository, or a specifier with a scheme. */
function forbiddenImport(from: string, target: string): string[] {
  if (/^(node|npm):/.test(target)) return [];
  if (/^\w+:/.test(target)) return [`${from} imports ${target}: dependencies come from npm or are built in`];
  if (isTest(target)) return [`${from} imports the test ${target}`];
  if (target.endsWith(".bt") && target.replace(/\.bt$/, ".ts") !== from) return [`${from} imports ${target}, which belongs to the file of its name`];
  if (target.endsWith(".json")) return [];
  const order = (path: string) => (rooms as readonly (string | null)[]).indexOf(roomOf(path));
  return order(target) <= order(from) ? [] : [`${from} imports ${target}: ${roomOf(target)} comes after ${roomOf(from)}`];
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}
