import { ExitCode, LlmprofError } from "../../lib/events/errors.ts";
import type { Child, ChildEnd, ChildOptions, SpawnChild } from "../../lib/machine/child.ts";

/** A child that does what the test says. */
export interface FakeChild {
  readonly options: ChildOptions;
  /** Prints on its standard output. */
  says(text: string): void;
  complains(text: string): void;
  ends(code: number, signal?: string): void;
  readonly pid: number;
  /** Signals that it got, in order. */
  readonly signals: string[];
  /** Acts on a signal. */
  onSignal: ((signal: string) => void) | undefined;
  /** What it was given on its standard input. */
  readonly read: Promise<string>;
}

/** Spawns children that do nothing by themselves. `onSpawn` sees each before its first reader does. */
export function fakeSpawn(onSpawn: (child: FakeChild) => void, firstPid = 1000): SpawnChild {
  let pid = firstPid;
  return (options) => {
    const [stdout, says] = piped();
    const [stderr, complains] = piped();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const { promise: status, resolve } = Promise.withResolvers<ChildEnd>();
    const signals: string[] = [];
    let ended = false;
    const ends = (code: number, signal: string | null = null) => {
      if (ended) return;
      ended = true;
      says(null);
      complains(null);
      resolve({ code, signal });
    };
    const own = pid++;
    const child: Child = {
      pid: own,
      stdin: options.stdin === "piped" ? writable : null,
      stdout: options.stdout === "piped" ? stdout : null,
      stderr: options.stderr === "piped" ? stderr : null,
      status,
      kill: (signal) => {
        if (ended) return false;
        signals.push(signal);
        fake.onSignal?.(signal);
        return true;
      },
    };
    const read = options.stdin === "piped" ? new Response(readable).text() : Promise.resolve("");
    const fake: FakeChild = { options, pid: own, says, complains, ends, signals, onSignal: undefined, read };
    onSpawn(fake);
    return child;
  };
}

/** What a look at the machine comes to where there is no room for the process that looks. */
export function noRoom(): Promise<never> {
  return Promise.reject(new LlmprofError(ExitCode.failed, "cat could not be started.", "There is no room for another process.", "Make memory free."));
}

/** `null` ends the stream. A stream of bytes, as a real pipe is. */
function piped(): [ReadableStream<Uint8Array>, (text: string | null) => void] {
  let controller!: ReadableByteStreamController;
  const stream = new ReadableStream({ type: "bytes", start: (c) => void (controller = c) });
  const end = () => {
    controller.close();
    // Whoever is waiting for bytes gets none.
    controller.byobRequest?.respond(0);
  };
  return [stream, (text) => text === null ? end() : text !== "" && controller.enqueue(new TextEncoder().encode(text))];
}
