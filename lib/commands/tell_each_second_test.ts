import assert from "node:assert/strict";
import { noRoom } from "../../tests/harness/fake_child.ts";
import { pending } from "../../tests/harness/pending.ts";
import type { Fact } from "../events/fact.ts";
import type { Means } from "../session/means.ts";
import type { Session } from "../session/session.ts";
import { tellEachSecond } from "./tell_each_second.ts";

Deno.test("each second: a look for which no process could be started is left out, and the next one is told", async () => {
  const told: Fact[] = [];
  const session = { counting: Promise.resolve(), tell: (fact: Fact) => void told.push(fact) } as Partial<Session> as Session;
  const means = { sleep: () => Promise.resolve() } as Partial<Means> as Means;
  const note: Fact = { fact: "note", text: "seen" };
  const over = Promise.withResolvers<null>();
  const looks = [noRoom, () => Promise.resolve([note]), () => (over.resolve(null), over.promise)];
  tellEachSecond(session, means, new Promise(() => {}), () => looks.shift()!());
  await over.promise;
  assert.deepEqual(told, [note]);
});

Deno.test("tell each second: what is found is told until nothing is, and of each look nothing is left behind", async () => {
  const told: Fact[] = [];
  const session = { counting: Promise.resolve(), tell: (fact: Fact) => void told.push(fact) } as unknown as Session;
  const means = { sleep: () => Promise.resolve() } as unknown as Means;
  const end = pending();
  const looked = Promise.withResolvers<void>();
  const facts: Fact[] = ["one", "two", "three"].map((text) => ({ fact: "note", text }));
  let looks = 0;
  tellEachSecond(session, means, end.promise, () => {
    if (looks === facts.length) looked.resolve();
    return Promise.resolve(looks < facts.length ? [facts[looks++]!] : null);
  });
  await looked.promise;
  assert.deepEqual(told, facts);
  assert.equal(end.waits, 1);
});
