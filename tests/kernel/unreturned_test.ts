/** Calls and requests that have not come to their end when counting does: how long they have lasted by then. */
import assert from "node:assert/strict";
import { presentIo } from "../../lib/analysis/io_present.ts";
import { walksMaps } from "../harness/bpftraces.ts";
import { mustRun, start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { hasRawTracepoints } from "../independent/requests.ts";
import { ranFor } from "./awake.ts";
import { bootNow } from "./boot_clock.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { fileSystem, loopDevice, slowReads } from "./loop_device.ts";
import { until } from "./processes.ts";
import { untilTold } from "./until_told.ts";

/** Reads one file and locks another one in memory, and says when it began by CLOCK_BOOTTIME. */
const WAITS = `
import ctypes, json, mmap, os, sys, threading, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mlock.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
size = os.stat("read").st_size
fd, buffer = os.open("read", os.O_RDONLY), bytearray(size)
mapped = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, os.open("lock", os.O_RDONLY), 0)
def waits(name, call, *args):
    print(json.dumps([name, time.clock_gettime_ns(time.CLOCK_BOOTTIME)]), flush=True)
    call(*args)
print("ready", flush=True)
open(sys.argv[1]).readline()
threading.Thread(target=waits, args=("read", os.readv, fd, [buffer]), daemon=True).start()
waits("lock", libc.mlock, mapped, size)
`;

/** For so long a call or a request has not come to its end when counting does, at least. */
const LASTED_MS = 2000;

const NUMBERS = { x86_64: { read: 19, lock: 149 }, aarch64: { read: 65, lock: 228 } };

/** When a thread of the process was seen to wait inside of this call. */
async function seenInside(pid: number, call: "read" | "lock"): Promise<bigint> {
  const number = NUMBERS[Deno.build.arch][call], tasks = `/proc/${pid}/task`;
  const isInside = () => [...Deno.readDirSync(tasks)].some(({ name }) => Deno.readTextFileSync(`${tasks}/${name}/syscall`).startsWith(`${number} `));
  await until(`a thread inside of ${call}`, isInside);
  return bootNow();
}

/** When counting ended. */
function shutOf(folder: Temporary): bigint {
  const [, at] = /"at":"(\d+)","kind":"window",.*"open":false/.exec(Deno.readTextFileSync(outputPath(folder, "jsonl")))!;
  return BigInt(at!);
}

sampledTest(1, "io: a read and an mlock that outlast the counting have lasted until then, and are what is waited for", {
  fio: true,
  groups: true,
}, async (bpftrace) => {
  using folder = temporary();
  await using device = await loopDevice(folder, 64);
  const size = 20 << 20, original = folder.file("original");
  Deno.writeFileSync(original, new Uint8Array(size).fill(7));
  await using disk = await fileSystem(device, folder, { read: original, lock: original });
  using group = slowReads(device, 1 << 20);
  const script = folder.file("waits.py");
  Deno.writeTextFileSync(script, `import os\nos.chdir("${disk.path}")${WAITS}`);
  const fifo = folder.file("fifo");
  await mustRun(["mkfifo", fifo]);
  await using program = start(["python3", script, fifo]);
  await program.saw("ready");
  Deno.writeTextFileSync(group.tasks, String(program.pid));
  await using llmprof = startLlmprof("io", { bpftrace: bpftrace.path, folder, target: { pid: program.pid }, formats: ["jsonl"] });
  await llmprof.saw("Tracing");
  await Deno.writeTextFile(fifo, "\n");
  const seen = { read: await seenInside(program.pid, "read"), lock: await seenInside(program.pid, "lock") };
  await ranFor(LASTED_MS);
  const asked = bootNow();
  llmprof.kill("SIGINT");
  const ended = await llmprof.finished(), after = bootNow();
  const { result } = summaryOf("io", ended);
  const began = new Map([...program.stdout().matchAll(/\["(read|lock)", (\d+)\]/g)].map(([, name, ns]) => [name, BigInt(ns!)]));
  const said = presentIo(result).flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
  if (!walksMaps(bpftrace)) {
    assert.ok(result.files.every(({ reads, fills }) => reads === 0 && fills.length === 0));
    assert.match(said, /as far as they are over/);
    return;
  }
  const shut = shutOf(folder);
  assert.ok(asked < shut && shut < after, `${asked} to ${shut} to ${after}`);
  const [read, lock] = ["read", "lock"].map((name) => result.files.find(({ file }) => file === name)!);
  const [fill] = lock!.fills;
  assert.deepEqual([read!.reads, read!.readBytes, read!.unreturned], [1, 0, 1]);
  assert.deepEqual([fill!.call, fill!.calls, fill!.bytes, fill!.unreturned, result.locks.lockedBytes], ["mlock", 1, 0, 1, 0]);
  for (const [name, ns] of [["read", read!.readNs], ["lock", fill!.ns]] as const) {
    const most = Number(shut - began.get(name)!), least = Number(asked - seen[name]);
    assert.ok(least <= ns && ns <= most, `${name}: ${ns} ns, ${most} by the program's clock, ${least} of them seen`);
  }
  assert.deepEqual(result.verdict.map(({ wait, of }) => `${wait} ${of}`).sort(), ["mappings lock", "reads read"]);
  assert.doesNotMatch(said, /Nothing waits|Disks read for it, though/);
});

sampledTest(1, "io: a request that its disk holds until counting ends is told, and no disk is said to have been asked nothing", {
  fio: true,
}, async (bpftrace) => {
  using folder = temporary();
  await using below = await loopDevice(folder, 64);
  const mounted = folder.file("mounted");
  Deno.mkdirSync(mounted);
  await mustRun(["mkfs.ext4", "-q", below.path]);
  await using cleared = new AsyncDisposableStack();
  await mustRun(["mount", below.path, mounted]);
  cleared.defer(async () => void await mustRun(["umount", mounted]));
  using place = temporary(mounted);
  await using device = await loopDevice(place, 8);
  await using program = await untilTold(folder, [
    "sh",
    "-c",
    `echo ready; read -r line; exec dd if=/dev/zero of=${device.path} bs=4096 count=1 oflag=direct conv=notrunc status=none`,
  ]);
  await using llmprof = startLlmprof("io", { bpftrace: bpftrace.path, folder, target: { pid: program.pid }, formats: ["jsonl"] });
  await llmprof.saw("Tracing");
  // What is written to a file of it waits until it thaws.
  await mustRun(["fsfreeze", "--freeze", mounted]);
  try {
    const isHeld = () => /^\s*0\s+1$/m.test(Deno.readTextFileSync(`/sys/block/${device.name}/inflight`));
    const told = bootNow();
    program.go();
    await until("the disk holds the request", isHeld);
    const seen = bootNow();
    await ranFor(LASTED_MS);
    const asked = bootNow();
    llmprof.kill("SIGINT");
    const { result } = summaryOf("io", await llmprof.finished());
    assert.ok(isHeld());
    const row = result.devices.find((row) => row.device === device.number && row.what === "write");
    const said = presentIo(result).flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
    if (!hasRawTracepoints(bpftrace)) return assert.match(said, /No disk answered the target anything/);
    assert.deepEqual([row!.requests, row!.unanswered, row!.bytes], [0, 1, 0]);
    const least = Number(asked - seen), most = Number(shutOf(folder) - told), { unansweredNs } = row!;
    assert.ok(
      least <= unansweredNs && unansweredNs <= most && most <= result.windows.ns,
      `${least} to ${most} ns, ${unansweredNs} of ${result.windows.ns}`,
    );
    assert.match(said, new RegExp(`1 write of ${device.name} had not been answered when counting ended`));
  } finally {
    await mustRun(["fsfreeze", "--unfreeze", mounted]);
  }
  assert.equal(await program.said(), "ready\n");
});
