import assert from "node:assert/strict";
import { type FakeChild, fakeSpawn } from "../../tests/harness/fake_child.ts";
import { testSchema } from "../../tests/harness/test_probe.ts";
import type { Program } from "../programs/render.ts";
import { RunningProgram, startBpftrace } from "./running_program.ts";

const program: Program = { text: "BEGIN { {{self}} {{self}} }\n", unsafe: true, schema: testSchema("ggml"), sites: [], readsSums: false };

function start() {
  let child!: FakeChild;
  const printed: string[] = [];
  const options = { bpftrace: "/usr/bin/bpftrace", bufferPages: 64, mapKeys: 4096, unsafe: true, prompt: true, warnsOfLoss: false };
  const process = startBpftrace(options, fakeSpawn((c) => void (child = c), 4242));
  const running = new RunningProgram(program, process, (bytes) => void printed.push(new TextDecoder().decode(bytes)));
  return { child, running, printed };
}

Deno.test("running program: it gets its program with its own process id in it, dies with us, and inherits nothing", async () => {
  const { child, running } = start();
  assert.equal(await child.read, "BEGIN { 4242 4242 }\n");
  assert.equal(running.pid, 4242);
  const { program, args, env, parentDeath, newSession } = child.options;
  assert.deepEqual([program, parentDeath, newSession], ["/usr/bin/bpftrace", true, true]);
  assert.ok(args!.includes("--unsafe") && args!.includes("line"));
  assert.deepEqual(Object.keys(env!).filter((name) => !name.startsWith("BPFTRACE_")).sort(), ["LC_ALL", "PATH"]);
  child.ends(0);
  await running.ended;
});

Deno.test("running program: ready is both clocks and the line, in pieces too; every byte is handed on", async () => {
  const { child, running, printed } = start();
  child.says("3 5000000007 179524840");
  child.says("2.000001\nrea");
  child.says("dy\n(9, 5000000009)\n");
  assert.deepEqual(await running.ready, { boottime: 5000000007n, realtime: 1795248402000001000n });
  child.says("10 5000000010 1 7\n");
  child.ends(0);
  assert.deepEqual(await running.ended, { code: 0, signal: null, said: "" });
  assert.equal(printed.join(""), "3 5000000007 1795248402.000001\nready\n(9, 5000000009)\n10 5000000010 1 7\n");
});

Deno.test("running program: one that ends before it is ready says what bpftrace said, without what old versions always say", async () => {
  const { child, running } = start();
  child.says("3 5 1.000001\n");
  child.complains("WARNING: Could not read available_filter_functions\nAttaching 3 probes...\nERROR: Could not resolve symbol: /lib/x:f\n");
  child.ends(1);
  await assert.rejects(running.ready, { exitCode: 1, what: /'ggml'/, why: "It said: ERROR: Could not resolve symbol: /lib/x:f", next: /doctor/ });
});

Deno.test("running program: an error comes before the warnings that newer versions print first", async () => {
  const { child, running } = start();
  const warning = "stdin:3:1-9: WARNING: while is experimental\n  while (1)\n  ~~~~~~~~\nHint: another loop\nmore\n";
  child.complains(`${warning}ERROR: Unable to attach probe: uprobe:/lib/x:f\nFATAL: giving up\n`);
  child.ends(1);
  await assert.rejects(running.ready, { why: "It said: ERROR: Unable to attach probe: uprobe:/lib/x:f FATAL: giving up" });
});

Deno.test("running program: what the kernel answered comes before what bpftrace makes of it", async () => {
  const { child, running } = start();
  child.complains("ioctl(PERF_EVENT_IOC_SET_BPF): Argument list too long\nERROR: Error attaching probe: tracepoint:syscalls:sys_enter_kill\n");
  child.ends(1);
  const why = "It said: ioctl(PERF_EVENT_IOC_SET_BPF): Argument list too long ERROR: Error attaching probe: tracepoint:syscalls:sys_enter_kill";
  await assert.rejects(running.ready, { why, next: /64 programs at a tracepoint/ });
});

Deno.test("running program: a bpftrace that may open no further file is this machine's affair, in the words of several versions", async () => {
  for (
    const said of [
      'FATAL: open("/dev/null"): Too many open files: please raise NOFILE',
      "open(/sys/kernel/tracing/events/syscalls/sys_enter_mmap/id): Too many open files\nERROR: Error attaching probe: tracepoint:syscalls:sys_enter_mmap",
    ]
  ) {
    const { child, running } = start();
    child.complains(`${said}\n`);
    child.ends(1);
    await assert.rejects(running.ready, { exitCode: 3, why: `It said: ${said.replace("\n", " ")}`, next: /: prlimit --pid \$\$ --nofile=4096$/m });
  }
});

Deno.test("running program: one that ends without a word", async () => {
  const { child, running } = start();
  child.ends(139);
  await assert.rejects(running.ready, { why: "It ended with code 139 and said nothing." });
});

Deno.test("running program: a full buffer that is reported on standard error belongs to the stream", async () => {
  const { child, running, printed } = start();
  child.complains("Lost 17 ev");
  child.complains("ents\nsomething else\nLost 3 events\n");
  child.ends(0);
  await running.ended;
  assert.equal(printed.join(""), "Lost 17 events\nLost 3 events\n");
});

Deno.test("running program: a map that is full is reported, among other things, on standard error", async () => {
  const { child, running, printed } = start();
  child.complains("stdin:1:36-43: WARNING: Map full; can't update element. Try increasing max_map_keys config\n");
  await running.full;
  child.ends(0);
  await running.ended;
  assert.equal(printed.join(""), "");
});

Deno.test("running program: a report waits for the end of the line that is being printed", async () => {
  const { child, running, printed } = start();
  child.says("3 5000000007 1795248402.000001\nready\n10 50000");
  await running.ready;
  child.complains("Lost 17 events\n");
  await new Promise((resolve) => setTimeout(resolve));
  child.says("00010 1 7\n10 5");
  child.ends(0);
  await running.ended;
  assert.equal(printed.join(""), "3 5000000007 1795248402.000001\nready\n10 5000000010 1 7\nLost 17 events\n10 5");
});

Deno.test("running program: what its signals mean", async () => {
  const { child, running } = start();
  running.openWindow();
  running.pause();
  running.resume();
  running.closeWindow();
  running.stop();
  running.kill();
  assert.deepEqual(child.signals, ["SIGWINCH", "SIGSTOP", "SIGCONT", "SIGURG", "SIGCONT", "SIGINT", "SIGKILL"]);
  child.ends(0);
  await running.ended;
});
