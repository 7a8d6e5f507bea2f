import { type Finished, start } from "../harness/command.ts";

export interface Traced<T> {
  /** Everything that the program printed, final maps included. */
  readonly stdout: string;
  readonly bpftrace: Finished;
  /** What `whileRunning` returned. */
  readonly value: T;
}

/**
 * Runs one bpftrace program around `whileRunning`: starts it, waits until every probe is attached, lets the work happen, and ends it as a
 * person would, with Ctrl-C. Throws when bpftrace fails, because a judge that did not look must not agree.
 *
 * `-f text` and a program on stdin are understood alike by every version from 0.16 on; so is SIGINT, which prints the maps.
 */
export async function trace<T>(bpftrace: string, program: string, whileRunning: () => Promise<T>, flags: readonly string[] = []): Promise<Traced<T>> {
  // A BEGIN of our own would run before the other probes are attached, but its line is only printed after.
  // 0.17 overlooks a SIGINT that arrives while it prints, until the next event: so there is always a next event.
  const all = `BEGIN { printf("attached\\n"); }\ninterval:ms:200 { printf("\\n"); }\n${program}\n`;
  // Room for so many keys in a map: of the two names each version knows one.
  const env = { BPFTRACE_PERF_RB_PAGES: "1024", BPFTRACE_MAP_KEYS_MAX: "65536", BPFTRACE_MAX_MAP_KEYS: "65536" };
  await using child = start([bpftrace, ...flags, "-f", "text", "-B", "line", "-"], { stdin: all, env, timeoutMilliseconds: 300_000 });
  await child.saw(/^attached$/m);
  const value = await whileRunning();
  child.kill("SIGINT");
  const ended = await child.succeeded();
  if (/^Lost \d+ events/m.test(ended.stdout + ended.stderr)) throw new Error("The judge's bpftrace lost events.");
  return { stdout: ended.stdout, bpftrace: ended, value };
}

/** A path or symbol inside a program: quoted, because an unquoted `@` ends the program with a syntax error. */
export function quoted(text: string): string {
  if (/["\\\n]/.test(text)) throw new Error(`A judge does not handle this name: ${text}`);
  return `"${text}"`;
}
