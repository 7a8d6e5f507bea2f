/** What `engine.mjs` says it did. Moments are CLOCK_BOOTTIME in nanoseconds. */
export interface EngineLog {
  readonly pid: number;
  readonly model: string;
  readonly threads: number;
  readonly prompt: { readonly tokens: number; readonly decodes: number };
  readonly generated: { readonly tokens: number; readonly decodes: number };
  /** Ids of a round's prompt, and of all tokens that were sampled. */
  readonly promptIds: readonly number[];
  readonly sampledIds: readonly number[];
  /** How many times llama_decode is called in all. */
  readonly decodes: number;
  /** Of a run with a draft: what was guessed with the prompt and after it, and how much of it was right in those whose successor was called. */
  readonly guesses: {
    readonly withPrompt: number;
    readonly guessed: number;
    readonly right: number;
    readonly draftBatches: number;
  } | null;
  /** Paths of every libllama* and libggml* that was mapped at the end: of the CPU variants only the one that was kept. */
  readonly libraries: readonly string[];
  /** Those that tests attach to. */
  readonly files: { readonly libllama: string; readonly libggmlCpu: string; readonly libggmlBase: string };
  readonly clock: { readonly source: string };
  readonly times: Readonly<Record<EngineMoment, bigint>>;
  readonly tokenTimes: readonly bigint[];
  /** CPU time that the process had used at each token, in microseconds. */
  readonly tokenCpu: readonly number[];
  /** What the kernel says that the process has read from disks, of any file. */
  readonly readBytes: number;
}

/**
 * `processStart` is the kernel's, in steps of 10 ms; `nodeStart` is when node's main function ran; `firstToken` is when the first token was
 * in the script's hands; `firstBatch` is when its first tokens were about to be handed over, behind what a draft guessed before.
 */
export type EngineMoment =
  | "processStart"
  | "nodeStart"
  | "importEnd"
  | "modelLoadStart"
  | "modelLoadEnd"
  | "contextStart"
  | "contextEnd"
  | "generateStart"
  | "firstBatch"
  | "firstToken"
  | "generateEnd"
  | "end";

/** Reads the script's last line, or the file given as `log`. */
export function parseEngineLog(text: string): EngineLog {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  const log = JSON.parse(line);
  const library = (name: RegExp): string => {
    const found = log.libraries.find((path: string) => name.test(path));
    if (found === undefined) throw new Error(`The engine mapped no ${name}.`);
    return found;
  };
  return {
    ...log,
    files: { libllama: library(/\/libllama\.[^/]*$/), libggmlCpu: library(/\/libggml-cpu-/), libggmlBase: library(/\/libggml-base/) },
    times: Object.fromEntries(Object.entries<string>(log.times).map(([name, digits]) => [name, BigInt(digits)])),
    tokenTimes: log.tokenTimes.map(BigInt),
  };
}
