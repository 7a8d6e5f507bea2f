import { type Engine, startEngine } from "./engine.ts";
import { traceProcessor } from "./files.ts";

export type Row = Record<string, unknown>;

const newest = 4;
const opened = new Map<string, Promise<Engine>>();

/**
 * Asks Perfetto's trace_processor about a trace file. Integers come as bigint, because times pass 2^53; reals as number; text as string.
 * The last few files stay loaded; a file that was written again is loaded again.
 */
export async function query(path: string, sql: string): Promise<Row[]> {
  const result = await (await load(path)).query(sql);
  const columns = result.columns();
  const rows: Row[] = [];
  for (const row = result.iter({}); row.valid(); row.next()) rows.push(Object.fromEntries(columns.map((name) => [name, row.get(name)])));
  return rows;
}

/** What the reader could not understand or had to drop. An empty list is the only good answer; a truncated file can give it too: count slices. */
export async function errors(path: string): Promise<{ name: string; value: bigint; severity: string }[]> {
  const rows = await query(path, "select name, value, severity from stats where severity in ('error', 'data_loss') and value > 0");
  return rows as { name: string; value: bigint; severity: string }[];
}

/** Why this judge cannot be asked here, or undefined. Fetches it the first time. */
async function unavailable(): Promise<string | undefined> {
  try {
    if (!await traceProcessor.isThere()) await traceProcessor.make();
  } catch (error) {
    return (error as Error).message;
  }
}

/** A test that needs the judge: without it, it is skipped, and its name says why. */
export async function judged(name: string, test: (t: Deno.TestContext) => Promise<void> | void): Promise<void> {
  const why = await (asked ??= unavailable());
  if (why === undefined) Deno.test(name, test);
  else Deno.test({ name: `${name} (skipped: ${why.split("\n")[0]})`, ignore: true, fn: test });
}
let asked: Promise<string | undefined> | undefined;

function load(path: string): Promise<Engine> {
  const { mtime, size } = Deno.statSync(path);
  const key = `${path} ${mtime?.getTime()} ${size}`;
  const known = opened.get(key);
  if (known) return known;
  const engine = openTrace(path);
  opened.set(key, engine);
  for (const oldest of [...opened.keys()].slice(0, -newest)) opened.delete(oldest);
  return engine;
}

async function openTrace(path: string): Promise<Engine> {
  const engine = await startEngine();
  using file = Deno.openSync(path);
  const block = new Uint8Array(1 << 20);
  for (let read = file.readSync(block); read !== null; read = file.readSync(block)) await engine.parse(block.slice(0, read));
  await engine.notifyEof();
  return engine;
}
