import assert from "node:assert/strict";
import { fakeSpawn, noRoom } from "../../tests/harness/fake_child.ts";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { Gatekeeper } from "./gatekeeper.ts";
import type { Means } from "./means.ts";

/** A keeper of processes that a test stops; `seen` is what it did, in order. */
function gate(path: string, attach: (pid: number) => Promise<void>) {
  const seen: string[] = [];
  const state = (pid: number, letter: string) => {
    Deno.mkdirSync(`${path}/proc/${pid}`, { recursive: true });
    Deno.writeTextFileSync(`${path}/proc/${pid}/stat`, `${pid} (x) ${letter} 1 1 1 0 -1 0 1 0 1 0 1 2 0 0 20 0 1 0 5 6 7\n`);
  };
  const spawn = fakeSpawn((child) => {
    seen.push(`continued ${child.options.args!.at(-1)}`);
    child.ends(0);
  }, 900);
  let slept = 0;
  const means = {
    files: new FolderFiles(path),
    spawn,
    sleep: (ms: number) => Promise.resolve(void (slept += ms)),
    monotonic: () => slept,
  } as unknown as Means;
  const guard = {
    pid: 1,
    stopped: (pid: number) => Promise.resolve(void seen.push(`guard knows ${pid}`)),
    mayStop: () => Promise.resolve(),
    released: (pid: number) => Promise.resolve(void seen.push(`guard forgets ${pid}`)),
    letGo: (pid: number) => Promise.resolve(void seen.push(`guard continues ${pid}`)),
    armed: () => Promise.resolve(),
    unheard: () => {},
    close: () => Promise.resolve(),
  };
  const facts: Fact[] = [];
  const serve = async (event: Event) => {
    seen.push(`attach ${event.pid}`);
    await attach(event.pid);
    return false;
  };
  const failures: unknown[] = [];
  const late = () => Promise.resolve(void seen.push("attach late"));
  const keeper = new Gatekeeper(means, guard, serve, late, (fact) => void facts.push(fact), (error) => void failures.push(error));
  const event = (pid: number): Event => ({ at: 0, stream: "gate", record: "gate/mapping.stopped", pid, tid: pid, values: [] });
  const released = (pid: number, sender: number): Event => ({ ...event(pid), record: "gate/mapping.released", values: [pid, sender] });
  return { keeper, seen, facts, failures, state, event, released, slept: () => slept };
}

Deno.test("gatekeeper: one after another: stands, attached, continued, forgotten; the guard knows at once", async () => {
  using root = temporary();
  const { keeper, seen, facts, state, event, released } = gate(root.path, () => Promise.resolve());
  state(7, "T");
  state(8, "T");
  keeper.event(event(7));
  keeper.event(event(8));
  await keeper.idle();
  keeper.event(released(7, 900));
  // The library's own probes speak by the same program as its gate.
  keeper.event({ ...event(7), record: "llama/calls.decode" });
  keeper.event(released(8, 901));
  assert.deepEqual(seen, [
    "guard knows 7",
    "guard knows 8",
    "attach 7",
    "continued 7",
    "guard forgets 7",
    "attach 8",
    "continued 8",
    "guard forgets 8",
  ]);
  assert.deepEqual(facts, []);
});

Deno.test("gatekeeper: who lets a process go tells each gate first that it speaks for llmprof", async () => {
  using root = temporary();
  const { keeper, state, event } = gate(root.path, () => Promise.resolve());
  const spawned: (readonly string[])[] = [];
  const spawn = fakeSpawn((child) => {
    spawned.push(child.options.args!.slice(-2));
    child.ends(0);
  });
  Object.assign(keeper.means, { spawn });
  state(7, "T");
  for (const bpftrace of [50, 51]) keeper.armed(bpftrace);
  keeper.event(event(7));
  await keeper.idle();
  assert.deepEqual(spawned, [["50 51", "7"]]);
});

Deno.test("gatekeeper: whom its starter lets go, once it has been served, is not early, also where that is heard behind its next stop", async () => {
  using root = temporary();
  const { keeper, facts, state, event, released } = gate(root.path, () => Promise.resolve());
  state(7, "T");
  keeper.event(event(7));
  await keeper.idle();
  keeper.event({ ...event(7), at: 1e9 });
  keeper.event(released(7, 555));
  await keeper.idle();
  assert.deepEqual(facts, []);
});

Deno.test("gatekeeper: a process that somebody else continues is told of", async () => {
  using root = temporary();
  const { keeper, facts, state, event, released } = gate(root.path, () => Promise.resolve(keeper.event(released(7, 555))));
  state(7, "T");
  keeper.event(event(7));
  await keeper.idle();
  const text = "process 7 was continued by process 555 before probes were attached: what it did first may be missing";
  assert.deepEqual(facts, [{ fact: "note", text }]);
});

Deno.test("gatekeeper: a process that runs when its probes are attached is told of once, and one that is gone is not", async () => {
  using root = temporary();
  const { keeper, seen, facts, state, event, released } = gate(root.path, (pid) => {
    // Whoever continued it: by a signal for its whole group, which no gate sees, or by one that is seen before or after.
    if (pid === 8) keeper.event(released(8, 555));
    if (pid === 10) Deno.removeSync(`${root.path}/proc/10`, { recursive: true });
    else state(pid, "R");
    return Promise.resolve();
  });
  for (const pid of [7, 8, 9, 10]) {
    state(pid, "T");
    keeper.event(event(pid));
  }
  await keeper.idle();
  keeper.event(released(9, 555));
  assert.deepEqual(facts.map((fact) => fact.fact === "note" && fact.text.replace(/ before .*/, "")), [
    "process 7 was continued by somebody",
    "process 8 was continued by process 555",
    "process 9 was continued by somebody",
  ]);
  assert.equal(seen.filter((what) => what === "attach late").length, 3, "what they have mapped by then");
  state(7, "T");
  keeper.event(event(7));
  await keeper.idle();
  assert.equal(facts.length, 4, "at another stop it is told again");
});

Deno.test("gatekeeper: who stops again before it was let go had been continued; threads that stop together had not, and all are served first", async () => {
  using root = temporary();
  const { keeper, seen, facts, state, event } = gate(root.path, () => Promise.resolve());
  for (const pid of [7, 8]) state(pid, "T");
  keeper.event(event(7));
  keeper.event({ ...event(7), at: 1e6 });
  keeper.event(event(8));
  keeper.event({ ...event(8), at: 1e9 });
  await keeper.idle();
  assert.deepEqual(seen.filter((what) => !what.startsWith("guard")), ["attach 7", "attach 7", "continued 7", "attach 8", "attach 8", "continued 8"]);
  assert.deepEqual(facts.map((fact) => fact.fact === "note" && fact.text.replace(/ before .*/, "")), ["process 8 was continued by somebody"]);
});

Deno.test("gatekeeper: where no child can continue a process, or the child is killed, the guard does", async () => {
  using root = temporary();
  const { keeper, seen, facts, state, event, released } = gate(root.path, () => Promise.resolve());
  const ended = fakeSpawn((child) => child.ends(1, "SIGKILL"));
  const spawns = [() => {
    throw new Error("Resource temporarily unavailable");
  }, ended];
  for (const spawn of spawns) {
    Object.assign(keeper.means, { spawn });
    state(7, "T");
    keeper.event(event(7));
    await keeper.idle();
    keeper.event(released(7, keeper.guard.pid));
  }
  assert.deepEqual(seen.filter((what) => what.startsWith("guard c")), ["guard continues 7", "guard continues 7"]);
  assert.ok(!seen.includes("guard forgets 7"));
  assert.deepEqual([facts, keeper.failure], [[], undefined]);
  await keeper.lasts(10);
});

Deno.test("gatekeeper: whatever happens the process goes on, the next is served, and each failure is told at once", async () => {
  using root = temporary();
  const { keeper, seen, failures, state, event } = gate(root.path, (pid) => Promise.reject(new Error(`no way into ${pid}`)));
  state(7, "T");
  state(8, "T");
  keeper.event(event(7));
  keeper.event(event(8));
  await keeper.idle();
  assert.deepEqual(seen.filter((s) => s.startsWith("continued")), ["continued 7", "continued 8"]);
  assert.deepEqual(failures, [new Error("no way into 7"), new Error("no way into 8")]);
  assert.equal(keeper.failure, failures[0]);
});

Deno.test("gatekeeper: it is idle when those are served, too, who came while it became so", async () => {
  using root = temporary();
  const { keeper, seen, state, event } = gate(root.path, (pid) => Promise.resolve(pid === 7 ? keeper.event(event(8)) : undefined));
  for (const pid of [7, 8]) state(pid, "T");
  keeper.event(event(7));
  await keeper.idle();
  assert.ok(seen.includes("continued 8"), seen.join());
});

Deno.test("gatekeeper: a look for which no process could be started is left out; what else fails in one is a failure", async () => {
  using root = temporary();
  const { keeper, failures } = gate(root.path, () => Promise.resolve());
  keeper.look(noRoom);
  await keeper.idle();
  assert.deepEqual([failures, keeper.failure], [[], undefined]);
  keeper.look(() => Promise.reject(new TypeError("a fault")));
  await keeper.idle();
  assert.deepEqual(failures, [new TypeError("a fault")]);
});

Deno.test("gatekeeper: it waits until the process stands, but not for ever, and not for one that is gone or that a debugger holds", async () => {
  using root = temporary();
  const { keeper, seen, state, event, slept } = gate(root.path, () => Promise.resolve());
  state(7, "R");
  keeper.event(event(7));
  await keeper.idle();
  assert.ok(seen.includes("attach 7"));
  assert.ok(slept() >= 2000 && slept() <= 2100, `${slept()}`);
  keeper.event(event(99));
  await keeper.idle();
  state(8, "t");
  keeper.event(event(8));
  await keeper.idle();
  assert.ok(slept() <= 2100 && seen.includes("continued 99") && seen.includes("continued 8"));
});

Deno.test("gatekeeper: a time lasts longer when somebody stands at the gate in it", async () => {
  using root = temporary();
  const attached = Promise.withResolvers<void>();
  const { keeper, state, event } = gate(root.path, () => attached.promise);
  state(7, "T");
  let now = 0, wake = () => {};
  const asked: number[] = [];
  const sleep = (ms: number) => {
    asked.push(ms);
    return new Promise<void>((resolve) => wake = resolve);
  };
  Object.assign(keeper.means, { monotonic: () => now, sleep });
  const passes = async (time: number) => {
    now = time;
    wake();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  const over = keeper.lasts(500);
  now = 100;
  keeper.event(event(7));
  await passes(500);
  now = 700;
  attached.resolve();
  await keeper.idle();
  await passes(900);
  await passes(1100);
  await over;
  assert.deepEqual(asked, [500, 400, 200], "it stood for 400 until 500, and for 200 more");
});
