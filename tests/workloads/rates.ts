import { built } from "../setup/programs.ts";

/** One line of the producer: see rates.c. */
export interface Produced {
  readonly tag: number;
  readonly calls: number;
  readonly milliseconds: number;
  /** CPU time of its thread in a call, without what an empty one takes. */
  readonly nanosecondsPerCall: number;
}

/** A process that calls a function at the rates that it is told. */
export class Producer implements AsyncDisposable {
  /** The function to probe; its first instruction is one that the kernel emulates. */
  static readonly site = `uprobe:"${built.rates}":"produced"`;
  readonly #child = new Deno.Command(built.rates, { stdin: "piped", stdout: "piped" }).spawn();
  readonly #input = this.#child.stdin.getWriter();
  readonly #lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  #text = "";

  static async start(): Promise<Producer> {
    const producer = new Producer();
    await producer.#line();
    return producer;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Calls, evenly spaced, for so long. The tag is the first argument of the calls. */
  async produce(callsPerSecond: number, milliseconds: number, tag = 0): Promise<Produced> {
    await this.#input.write(new TextEncoder().encode(`${callsPerSecond} ${milliseconds} ${tag}\n`));
    return JSON.parse(await this.#line());
  }

  async #line(): Promise<string> {
    while (!this.#text.includes("\n")) {
      const { value, done } = await this.#lines.read();
      if (done) throw new Error("The producer has ended.");
      this.#text += value;
    }
    const end = this.#text.indexOf("\n");
    const line = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 1);
    return line;
  }

  async [Symbol.asyncDispose]() {
    await this.#input.close();
    await this.#lines.cancel();
    await this.#child.status;
  }
}
