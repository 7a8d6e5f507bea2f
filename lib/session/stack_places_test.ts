import assert from "node:assert/strict";
import { makeElf } from "../../tests/harness/elf.ts";
import { noRoom } from "../../tests/harness/fake_child.ts";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { StackPlaces } from "./stack_places.ts";

const CODE = 0x7f0000001000;

/** Process 100 has mapped code at {@link CODE}. */
function world(root: string) {
  Deno.mkdirSync(`${root}/proc/100`, { recursive: true });
  Deno.writeTextFileSync(`${root}/proc/100/maps`, "7f0000000000-7f0000010000 r-xp 00000000 00:00 0 \n");
  const facts: Fact[] = [];
  const places = new StackPlaces(new FolderFiles(root), "x86_64", (fact) => facts.push(fact));
  const event = (record: string, pid: number, ...values: number[]): Event => ({ at: 0, stream: "s", record, pid, tid: pid, values });
  const frame = (pid: number, address = CODE) => places.firstTold(event("sched/switch.frame", pid, 1, 0, address));
  return { facts, places, event, frame };
}

Deno.test("stack places: who was forked, started nothing and has ended had mapped what its parent has; who started a program had not", async () => {
  using folder = temporary();
  const { facts, places, event, frame } = world(folder.path);
  assert.deepEqual([frame(100), frame(100)], [true, false]);
  await places.look(100);
  for (const child of [200, 300]) places.firstTold(event("process/life.task", 100, child, 0));
  places.firstTold(event("process/life.exec", 300));
  for (const child of [200, 300]) {
    assert.ok(frame(child));
    await places.look(child);
  }
  const place = { at: CODE, file: "", name: null, offset: 0 };
  assert.deepEqual(facts, [{ fact: "places", pid: 100, places: [place] }, { fact: "places", pid: 200, places: [place] }]);
});

Deno.test("stack places: what was left out where no process could be started is no obstacle to who looks next", async () => {
  using folder = temporary();
  const proc = new FakeProc(folder.path), { files } = proc;
  proc.process(100, 1, "engine");
  proc.map(100, "/opt/libllama.so", 5, makeElf({ llama_decode: "55" }));
  const facts: Fact[] = [];
  const places = new StackPlaces(files, "x86_64", (fact) => facts.push(fact));
  const event = { at: 0, stream: "s", record: "sched/switch.frame", pid: 100, tid: 100 };
  const frame = (address: number) => places.firstTold({ ...event, values: [1, 0, address] });
  const begin = 0x7f000005000;
  for (const [index, failing] of (["text", "bytes"] as const).entries()) {
    Object.assign(files, { [failing]: noRoom });
    assert.ok(frame(begin + index));
    await assert.rejects(places.look(100), { why: "There is no room for another process." });
    Object.assign(files, { [failing]: FolderFiles.prototype[failing] });
  }
  assert.ok(frame(begin + 0x100));
  await places.look(100);
  assert.deepEqual(facts.map((fact) => fact.fact === "places" && fact.places.map(({ file }) => file)), [["libllama.so"]]);
});

Deno.test("stack places: a name is told whole, as far as those of a GPU's kernels differ; of a longer one it is said that it is cut off", async () => {
  using folder = temporary();
  const { facts, places, event } = world(folder.path);
  const base = 0x7f0000000000, range = "7f0000000000-7f0000003000", [whole, longer] = [2048, 2049].map((length) => "_Z".padEnd(length, "k"));
  Deno.mkdirSync(folder.file("proc/100/map_files"), { recursive: true });
  Deno.writeFileSync(folder.file(`proc/100/map_files/${range}`), makeElf({ [whole!]: "55", [longer!]: "55" }));
  Deno.writeTextFileSync(folder.file("proc/100/maps"), `${range} r-xp 00000000 08:02 77 /opt/libkernels.so\n`);
  for (const address of [base + 0x1000, base + 0x1040]) places.firstTold(event("cudart/calls.frame", 100, address, 0, address));
  await places.look(100);
  assert.deepEqual(facts.map((fact) => fact.fact === "places" && fact.places.map(({ name }) => name)), [[whole, `${whole}…`]]);
});

Deno.test("stack places: a number that is used again, and a program that takes another's place, have addresses of their own", async () => {
  using folder = temporary();
  const { places, event, frame } = world(folder.path);
  assert.ok(frame(100));
  await places.look(100);
  places.firstTold(event("process/life.exec", 100));
  assert.ok(frame(100), "another program");
  await places.look(100);
  places.firstTold(event("process/life.task", 1, 100, 0));
  assert.ok(frame(100), "another process");
});

Deno.test("stack places: a file is read through whichever process has mapped it and is there", async () => {
  using folder = temporary();
  const { facts, places, event } = world(folder.path);
  const base = 0x7f0000000000, behindCall = base + 0x200000;
  // Longer than what is read of it at once for its headers.
  const code = new Uint8Array(0x300000);
  code.set(makeElf({ decode: "55" }));
  code[0x200000 - 5] = 0xe8;
  const range = "7f0000000000-7f0000300000", anonymous = "7f0000400000-7f0000410000";
  const maps = (pid: number) => {
    Deno.mkdirSync(folder.file(`proc/${pid}/map_files`), { recursive: true });
    Deno.writeTextFileSync(folder.file(`proc/${pid}/maps`), `${range} r-xp 00000000 08:02 77 /opt/libx.so\n${anonymous} r-xp 00000000 00:00 0 \n`);
    Deno.writeFileSync(folder.file(`proc/${pid}/map_files/${range}`), code);
  };
  const gone = (pid: number) => Deno.removeSync(folder.file(`proc/${pid}`), { recursive: true });
  const look = async (pid: number, depth: number, address: number) => {
    assert.ok(places.firstTold(event("sched/switch.frame", pid, 1, depth, address)));
    await places.look(pid);
    const last = facts.at(-1)!;
    return last.fact === "places" && last.pid === pid && last.places.map(({ file, name, offset }) => [file, name, offset]);
  };
  for (const pid of [100, 200, 300]) maps(pid);
  assert.deepEqual(await look(100, 0, 0x7f0000400000), [["", null, 0]]);
  gone(100);
  assert.deepEqual(await look(100, 1, behindCall), [["libx.so", null, 0x200000]], "what is known is where it was");
  assert.deepEqual(await look(200, 0, base + 0x1004), [["libx.so", "decode", 0x1004]]);
  gone(200);
  assert.deepEqual(await look(300, 1, behindCall), [["libx.so", null, 0x200000]]);
});

Deno.test("stack places: an address of data that is no return address is that of what has its name there, and of nothing else", async () => {
  using folder = temporary();
  const { facts, places, event } = world(folder.path);
  const base = 0x7f0000000000, range = "7f0000000000-7f0000003000";
  Deno.mkdirSync(folder.file("proc/100/map_files"), { recursive: true });
  Deno.writeFileSync(folder.file(`proc/100/map_files/${range}`), makeElf({ _Z2g1i: "00" }, true, "data"));
  for (const access of ["r--p", "r-xp"]) {
    Deno.writeTextFileSync(
      folder.file("proc/100/maps"),
      `${range} ${access} 00000000 08:02 77 /opt/app\n7f0000400000-7f0000401000 rw-p 00000000 00:00 0 \n`,
    );
    places.firstTold(event("process/life.exec", 100));
    for (const [depth, address] of [[0, base + 0x1000], [1, base + 0x1008], [0, base + 0x2000], [0, 0x7f0000400000]] as const) {
      places.firstTold(event("hip/calls.frame", 100, address, depth, address));
    }
    await places.look(100);
  }
  assert.deepEqual(facts.map((fact) => fact.fact === "places" && fact.places.map(({ file, name, offset }) => [file, name, offset])), [
    [["app", "_Z2g1i", 0x1000]],
    // As code it has no function of that name.
    [["app", null, 0x1000], ["app", null, 0x2000]],
  ]);
});

Deno.test("stack places: of a process that has ended it is known what it had mapped until a hundred others have ended", async () => {
  using folder = temporary();
  const { facts, places, event, frame } = world(folder.path);
  const exit = (pid: number) => places.firstTold(event("process/life.exit", pid, 0, 0, 0));
  frame(100);
  await places.look(100);
  exit(100);
  Deno.removeSync(`${folder.path}/proc/100`, { recursive: true });
  for (let pid = 1001; pid <= 1099; pid++) exit(pid);
  assert.ok(!frame(100) && frame(100, CODE + 8), "what it did last comes through only now");
  await places.look(100);
  assert.deepEqual(facts.flatMap((fact) => fact.fact === "places" ? fact.places.map(({ at }) => at) : []), [CODE, CODE + 8]);
  exit(1100);
  assert.ok(frame(100));
  await places.look(100);
  assert.equal(facts.length, 2, "nothing is known of it");
});
