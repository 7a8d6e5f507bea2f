import assert from "node:assert/strict";
import { FakeSymbols } from "../../tests/harness/fake_machine.ts";
import type { Hands } from "../session/means.ts";
import { begin, type BeginOptions } from "./begin.ts";
import type { Context } from "./terminal.ts";

Deno.test("begin: that Ctrl-C ends the waiting is said when it does", async () => {
  const status = Promise.withResolvers<string>(), looked = Promise.withResolvers<void>();
  const files = {
    text: (path: string) => path === `/proc/${Deno.pid}/status` ? status.promise : Promise.resolve(null),
    texts: (paths: readonly string[]) => Promise.resolve(paths.map(() => null)),
    list() {
      looked.resolve();
      return Promise.resolve([]);
    },
  };
  const told: string[] = [], waits = Promise.withResolvers<void>(), interrupted = Promise.withResolvers<void>();
  const sleep = () => {
    waits.resolve();
    return new Promise<void>(() => {});
  };
  const hands = { files, sleep, self: 50, symbols: new FakeSymbols() } as unknown as Hands;
  const context = {
    terminal: { err: (text: string) => told.push(text), typed: false },
    interrupted: interrupted.promise,
    heedSignals: (underNohup: boolean) => told.push(`heeds, ${underNohup}`),
    atKill() {},
  } as unknown as Context;
  const options = { comm: "server", wait: true, program: [], detail: "op", tree: true, bufferPages: 64 } as BeginOptions;
  const reading = { hands, bpftrace: Promise.resolve(null), units: new Promise<never>(() => {}), means: new Promise<never>(() => {}) };
  using begun = begin({ name: "operators", waits: false }, options, context, () => reading);
  await looked.promise;
  // All that it looks at is there at once: by then it knows that nobody has that name.
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(told, []);
  status.resolve("SigIgn:\t0000000000000001\n");
  await waits.promise;
  assert.deepEqual(told, ["heeds, true", "Waiting for a process that matches. Ctrl-C ends.\n"]);
  assert.equal(await begun.engine, "ggml", "known by then: what else is wrong is told while it waits");
  interrupted.resolve();
  assert.equal(await begun.target, null);
});
