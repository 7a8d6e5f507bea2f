import assert from "node:assert/strict";
import type { Child } from "../machine/child.ts";
import type { Means } from "./means.ts";
import { Throwing } from "./throwing.ts";

const SHELL = 4711;

/** A process that throws, with a teller of what is hidden from it; what the shell is told, and each look at its threads, goes through `step`. */
class Thrower {
  /** One letter for each thread, as /proc has it. */
  states = "TT";
  readonly teller = {};
  readonly said: string[] = [];
  readonly throwing: Throwing;
  #looks = 0;

  /** @param step Is told what has been said to the shell, or `look 1` and so on. */
  constructor(step: (said: string, thrower: Thrower) => void, rounds = 1) {
    const ended = Promise.withResolvers<{ code: number; signal: null }>();
    const write = (bytes: Uint8Array) => {
      for (const words of new TextDecoder().decode(bytes).trimEnd().split("\n")) {
        this.said.push(words);
        step(words, this);
      }
    };
    const stdin = new WritableStream<Uint8Array>({ write, close: () => ended.resolve({ code: 0, signal: null }) });
    const spawn = (): Child => {
      step("begins", this);
      return { pid: SHELL, stdin, stdout: null, stderr: null, status: ended.promise, kill: () => true };
    };
    const files = {
      list: () => Promise.resolve([...this.states].map((_, i) => String(100 + i))),
      texts: () => {
        step(`look ${++this.#looks}`, this);
        return Promise.resolve([...this.states].map((state, i) => `${100 + i} (python3) ${state} 1 1 1 0 -1 0 1 0 1 0 5 25 0 0 20 0 1 0 100 6 7\n`));
      },
    };
    const sleep = () => {
      step("sleeps", this);
      return new Promise<void>((resolve) => setTimeout(resolve));
    };
    this.throwing = new Throwing({ files, spawn, sleep } as unknown as Means, 100, new Set([this.teller]), rounds);
  }

  answers(asker = SHELL): void {
    this.throwing.answers(this.teller, asker);
  }
}

Deno.test("throwing: what is hidden is put back when every thread stands and all has been read, and not before", async () => {
  const states = ["RT", "TR", "TT"], asked: string[] = [];
  const thrower = new Thrower((said, thrower) => {
    asked.push(said);
    if (said.startsWith("look")) thrower.states = states.shift()!;
    // Another shell's is no answer.
    if (said === "begins") setTimeout(() => thrower.answers(12)), setTimeout(() => thrower.answers(), 20);
    if (said === "ask") {
      // What the other thread has told is read last.
      setTimeout(() => {
        thrower.throwing.hides({ at: 2, place: 0x7f00_0000_0010, address: 0x7f12_3456_789a });
        thrower.answers();
      }, 20);
    }
  });
  thrower.throwing.hides({ at: 1, place: 16, address: 0x0102 });
  assert.equal(await thrower.throwing.serve(), true);
  const first = "put 2 \\002\\001\\000\\000\\000\\000\\000\\000";
  const second = `put ${0x7f00_0000_0010 / 8} \\232\\170\\126\\064\\022\\177\\000\\000`;
  assert.deepEqual(asked.filter((said) => said !== "sleeps"), ["begins", "look 1", "look 2", "look 3", "ask", first, second, "go"]);
  assert.equal(thrower.throwing.waits, false);
});

Deno.test("throwing: another llmprof has sent it on; what it throws then waits until it stands, and what was told of before is no more", async () => {
  const thrower = new Thrower((_said, thrower) => setTimeout(() => thrower.answers()));
  thrower.throwing.hides({ at: 1, place: 8, address: 1 });
  thrower.throwing.wentOn(5);
  thrower.throwing.hides({ at: 4, place: 16, address: 2 });
  assert.equal(thrower.throwing.waits, false);
  thrower.states = "ST";
  assert.equal(await thrower.throwing.serve(), true);
  assert.deepEqual(thrower.said, []);

  const again = new Thrower((said, thrower) => {
    if (said === "look 1") {
      thrower.throwing.wentOn(5);
      thrower.throwing.hides({ at: 7, place: 24, address: 3 });
    }
    if (said === "look 2") thrower.states = "TT";
    setTimeout(() => thrower.answers());
  });
  again.states = "RT";
  again.throwing.hides({ at: 1, place: 8, address: 1 });
  assert.equal(await again.throwing.serve(), true);
  assert.deepEqual(again.said, ["ask", "put 3 \\003\\000\\000\\000\\000\\000\\000\\000", "go"]);
});

Deno.test("throwing: one that reads several buffers one after another is asked until it must have read all of them", async () => {
  const thrower = new Thrower((said, thrower) => {
    if (said === "begins" || said === "ask") setTimeout(() => thrower.answers(), 5);
  }, 3);
  thrower.throwing.hides({ at: 1, place: 8, address: 1 });
  assert.equal(await thrower.throwing.serve(), true);
  assert.deepEqual(thrower.said, ["ask", "ask", "ask", "put 1 \\001\\000\\000\\000\\000\\000\\000\\000", "go"]);
});
