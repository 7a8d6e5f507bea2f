import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { anyLibrary } from "../harness/any_library.ts";
import { start } from "../harness/command.ts";
import { temporary } from "../harness/temporary.ts";
import { demoFolder } from "./demo_recording.ts";
import { runLlmprof } from "./llmprof.ts";

/** A command line and what is said of it. Each ends with 2 and a next step, for root and for everybody else. */
const mistakes: readonly (readonly [args: string, said: RegExp])[] = [
  ["operatrs", /^Unknown command 'operatrs'\..*\nDid you mean operators\?/],
  ["paint", /^Unknown command 'paint'\..*\nSee: llmprof --help/],
  ["operators --duratin 5s", /^Unknown option '--duratin'\..*\nDid you mean --duration\?/],
  ["operators --pid 1 --duration banana", /^--duration cannot be 'banana'\. It is a number above 0 with a unit: 500ms, 10s/],
  ["operators --pid none", /^--pid cannot be 'none'\. It is a whole number from 1 on\./],
  ["operators --duration 1\n2", /^--duration cannot be '1 2'\. It is a number above 0 with a unit/],
  ["operators --pid 12\n34\n", /^--pid is one process, and 2 are named\./],
  ["operators --pid \n12\n34", /^--pid is one process, and 2 are named\./],
  ["operators --pid 34 12", /^--pid is one process, and 2 are named\. .*\nTry: llmprof operators --comm NAME/],
  ["operators --pid", /^Option '--pid <N>' argument missing\./],
  ["operators --buffer-pages 3", /^--buffer-pages cannot be '3'\. It is a power of two/],
  ["operators --match (", /^--match cannot be '\('\. It is no regular expression: Unterminated group\./],
  ["operators --pid 1 --summary jsno", /^--summary cannot be 'jsno'\. It is text or json\.\nDid you mean json\?/],
  ["operators --pid 1 --comm node", /^Option '--pid <N>' cannot be used with option '--comm <NAME>'/],
  ["operators --comm a --match b", /^Option '--comm <NAME>' cannot be used with option '--match <REGEX>'/],
  ["operators --match a --container b", /^Option '--match <REGEX>' cannot be used with option '--container <NAME\|ID>'/],
  ["operators --container a -- node x", /^--container cannot be used with a program after --\./],
  ["operators --container no-such-name", /^No container matches --container no-such-name\./],
  ["operators --pid 1 -- node x", /^--pid cannot be used with a program after --\./],
  ["operators --from x.llmprof --pid 1", /^Option '--from <PATH>' cannot be used with option '--pid <N>'/],
  ["operators node x", /^Unexpected word 'node'\..*\nTry: llmprof operators -- node x/],
  ["operators --", /^No program follows --\./],
  ["operators", /^operators needs a target\..*\nName one: llmprof operators --pid N/],
  ["operators --dry-run -o d", /^operators needs a target\./],
  ["operators --pid 1 --rate 25k/s", /^--rate belongs to --dry-run\..*\nTry: llmprof operators --pid N --dry-run --rate 25k\/s/],
  [
    "operators --pid 1 --dry-run --max-overhead 2%",
    /^With --dry-run, --max-overhead needs --rate\..*\nTry: llmprof operators --pid N --dry-run --rate 25k\/s --max-overhead 2%/,
  ],
  ["operators --pid 1 --dry-run --summary json", /^--summary json cannot be used with --dry-run\./],
  ["gpu --list-calls --pid 1", /^--pid cannot be used with --list-calls\..*\nTry: llmprof gpu --list-calls/],
  ["gpu --list-calls -o a.json", /^--output cannot be used with --list-calls\./],
  ["operators --pid 4194305", /^There is no process 4194305\..*\nList what runs: ps/],
  ["operators --comm no-such-name", /^No process matches --comm no-such-name\./],
  ["operators -- no-such-program --flag", /^no-such-program was not found\. It is in no folder of PATH\./],
  ["coldstart -o /no/such/folder/x.pftrace", /^Cannot write \/no\/such\/folder\/x\.pftrace\. Its folder does not exist\.\nChoose another path/],
  ["coldstart -o /proc/x.json", /^Cannot write \/proc\/x\.json\./],
  ["coldstart -o trace.foo", /^Cannot tell the format of 'trace\.foo'\. It ends in none of \.pftrace/],
  ["coldstart -o a.llmprof -o b.llmprof", /^A run makes one recording\./],
  ["coldstart -o a.json -o a.json", /^a\.json is named twice\./],
  ["gpu --all -o a.jsonl --cuda-jsonl ./a.jsonl", /^\.\/a\.jsonl is named twice\. .*\nName another path with --cuda-jsonl FILE\./],
  ["io --all -o a.jsonl --snapshots a.jsonl", /^a\.jsonl is named twice\./],
  ["coldstart -o a.json --no-output", /^-o cannot be used with --no-output\./],
  ["operators --pid 1 --detail layer", /^--detail cannot be 'layer'\. It is wait or op or sum or graph or sample or token\./],
  ["operators --pid 1 --every 30s", /^--every and --for belong together\..*\nTry: llmprof operators --pid N --every 30s --for 2s/],
  ["operators --pid 1 --every 2s --for 2s", /^--for has to be shorter than --every\./],
  ["operators --every 3s --for 1s -- node x", /^--every needs a process that runs\./],
  ["operators --comm x --wait --every 3s --for 1s", /^--every cannot be used with --wait\./],
  ["coldstart --every 3s --for 1s --pid 1", /^coldstart has no option --every\./],
  ["sched --pid 1 --tokens 5", /^sched has no option --tokens\. It looks at threads/],
  ["io --pid 1 --detail op", /^--detail cannot be 'op'\. It is request\./],
  ["sched --pid 1 -o a.dot", /^There would be no graph in a\.dot\. sched looks at no operator\.\nTry: llmprof operators /],
  ["operators --pid 1 --detail token -o a.mmd", /^There would be no graph in a\.mmd\. --detail token tells of no graph's operators\./],
  ["io --all --pid 1", /cannot be used with option/],
  ["io --all --interval 5", /^--interval belongs to --snapshots\..*\nTry: llmprof io --all --interval 5 --snapshots FILE/],
  [
    "sched --all --flush-every 3",
    /^--flush-every belongs to --snapshots\..*\nTry: llmprof sched --all --interval 5 --snapshots FILE --flush-every 12/,
  ],
  ["io --pid 1 --fsync", /^--fsync belongs to --snapshots\..*\nTry: llmprof io --all --interval 5 --snapshots FILE --fsync/],
  [
    "sched --all -o a.pftrace --snapshots /no/such/folder/x",
    /^Cannot write \/no\/such\/folder\/x\. Its folder does not exist\.\nChoose another path with --snapshots FILE\./,
  ],
  ["sched --snapshots x --from y.llmprof", /cannot be used with option/],
  ["sched --snapshots x --syscalls", /^Option '--syscalls' cannot be used with option '--snapshots <FILE>'/],
  ["operators --pid 1 --snapshots x", /^operators has no option --snapshots\./],
  ["record --pid 1 --layers io,nets", /^--layers cannot be 'io,nets'\. 'nets' is none of coldstart, operators, gpu, io, sched\./],
  ["record", /^record needs a target\./],
  [
    "record --pid 1 --layers io,sched --tokens 50",
    /^record --layers io,sched has no option --tokens\. It is for coldstart or operators\.\nTry: llmprof record --layers operators,io,sched --tokens <N>/,
  ],
  ["record --pid 1 --layers io,sched --detail token", /^record --layers io,sched has no option --detail\. It is for operators\./],
  ["record --pid 1 --layers operators --cuda-jsonl f", /^record --layers operators has no option --cuda-jsonl\. It is for gpu\./],
  ["record --pid 1 --every-call", /^record --layers operators,io,sched has no option --every-call\. It is for gpu\./],
  ["record --pid 1 --layers io,operators --stacks", /^record --layers operators,io has no option --stacks\. It is for gpu or sched\./],
  ["export", /^Missing required argument 'recording'\./],
  ["export a b", /^Too many arguments for 'export'\./],
  ["completions bsh", /^<shell> cannot be 'bsh'\. It is bash or zsh or fish\.\nDid you mean bash\?/],
];

for (const [args, said] of mistakes) {
  Deno.test(`usage: llmprof ${args}`, async () => {
    using folder = temporary();
    const { code, stdout, stderr } = await runLlmprof(args.split(" "), { cwd: folder.path });
    assert.match(stderr, said);
    assert.match(
      stderr,
      /^\S.*\.\n\S.*\n(\S.*:\n( {2}--pid .*\n)+( {2}and \d+ more\n)?)?$/,
      "what and why in one line, the next step in another, and no stack",
    );
    assert.deepEqual([code, stdout], [2, ""]);
    assert.deepEqual([...Deno.readDirSync(folder.path)], [], "nothing is left behind");
  });
}

Deno.test("usage: without a target, those that have an engine are listed", async () => {
  using folder = temporary();
  const library = folder.file("libllama.so");
  Deno.copyFileSync(await anyLibrary(), library);
  await using engine = start(["env", `LD_PRELOAD=${library}`, "sleep", "60"]);
  while (!Deno.readTextFileSync(`/proc/${engine.pid}/maps`).includes(library)) await pause(10);
  const { code, stderr } = await runLlmprof(["sched"], { cwd: folder.path });
  assert.match(stderr, new RegExp(`^sched needs a target\\.[^]*:\n[^]*^ {2}--pid ${engine.pid} {2}sleep 60$`, "m"));
  assert.equal(code, 2);
});

Deno.test("usage: what is wrong is told while a target is waited for, and not when it comes", async () => {
  for (const command of ["operators", "sched"]) {
    const words = [command, "--wait", "--comm", "no-such-name", "-o", "trace.foo"];
    const { code, stderr, timedOut } = await runLlmprof(words, { timeoutMilliseconds: 30_000 });
    assert.match(stderr, /^Cannot tell the format of 'trace\.foo'\./m);
    // It was told when the waiting was ended, too.
    assert.deepEqual([code, timedOut], [2, false]);
  }
});

Deno.test("usage: what is typed takes the place of what the environment says against it", async () => {
  const env = { LLMPROF_BPFTRACE: "/nowhere/bpftrace", LLMPROF_PID: "1", LLMPROF_FROM: "/nowhere.llmprof" };
  const replay = await runLlmprof(["io", "--from", "/no-recording.llmprof"], { env });
  assert.match(replay.stderr, /^Cannot read the recording \/no-recording\.llmprof:/);
  const live = await runLlmprof(["io", "--comm", "no-such-name"], { env });
  assert.match(live.stderr, /^No process matches --comm no-such-name\./);
  const program = await runLlmprof(["coldstart", "--", "no-such-program"], { env: { LLMPROF_PID: "1", LLMPROF_FROM: "/nowhere.llmprof" } });
  assert.match(program.stderr, /^no-such-program was not found\./);
  const typed = await runLlmprof(["coldstart", "--comm", "a", "--", "no-such-program"], { env: { LLMPROF_PID: "1" } });
  assert.match(typed.stderr, /^--comm cannot be used with a program after --\./);
});

Deno.test("usage: a graph is refused where one is asked for of a run that sees none, and not of a recording, nor where the environment names it", async () => {
  using folder = temporary();
  const env = { LLMPROF_OUTPUT: folder.file("a.dot") };
  assert.match((await runLlmprof(["sched", "--comm", "no-such-name"], { env })).stderr, /^No process matches --comm no-such-name\./);
  assert.match((await runLlmprof(["sched", "--comm", "no-such-name", "-o", "a.dot"], { env })).stderr, /^There would be no graph in a\.dot\./);
  const replay = await runLlmprof(["sched", "--from", "/no-recording.llmprof", "-o", "a.dot"]);
  assert.match(replay.stderr, /^Cannot read the recording \/no-recording\.llmprof:/);
});

Deno.test("usage: what the environment says is passed over by commands and layers that have no such option", async () => {
  const env = { LLMPROF_TOKENS: "50", LLMPROF_DETAIL: "token", LLMPROF_STACKS: "1", LLMPROF_CUDA_JSONL: "/no/such/folder/x" };
  for (const words of [["io"], ["record", "--layers", "io"], ["record", "--layers", "coldstart,io"]]) {
    const { code, stderr } = await runLlmprof([...words, "--pid", "4194305"], { env });
    assert.match(stderr, /^There is no process 4194305\./);
    assert.equal(code, 2);
  }
  const { stderr } = await runLlmprof(["record", "--layers", "io,gpu", "--pid", "4194305"], { env });
  assert.match(stderr, /^Cannot write \/no\/such\/folder\/x\./);
});

Deno.test("usage: LLMPROF_NO_OUTPUT is --no-output, and a path that is typed takes its place", async () => {
  using folder = temporary();
  const env = { LLMPROF_OUTPUT: "b.json", LLMPROF_NO_OUTPUT: "1" };
  for (const [words, left] of [[["--no-output"], []], [[], []], [["-o", "a.json"], ["a.json"]]] as const) {
    const { code, stderr } = await runLlmprof(["demo", ...words], { cwd: folder.path, env });
    assert.deepEqual([code, [...Deno.readDirSync(folder.path)].map(({ name }) => name)], [0, [...left]], stderr);
  }
});

Deno.test("usage: a wrong value in the environment is told with its name", async () => {
  const { code, stderr } = await runLlmprof(["operators", "--pid", "1"], { env: { LLMPROF_DURATION: "banana" } });
  assert.match(stderr, /^--duration cannot be 'banana' from env 'LLMPROF_DURATION'\./);
  assert.equal(code, 2);
  assert.match((await runLlmprof(["operators"], { env: { LLMPROF_PID: "1 2" } })).stderr, /^--pid is one process, and 2 are named\./);
});

Deno.test("usage: a variable that is empty, or says no, is as if it were not there", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path, () => "{");
  const verbose = async (LLMPROF_VERBOSE: string) => /^\s+at /m.test((await runLlmprof(["export", path], { env: { LLMPROF_VERBOSE } })).stderr);
  assert.deepEqual([await verbose("1"), await verbose("yes")], [true, true]);
  assert.deepEqual([await verbose(""), await verbose("0"), await verbose("False"), await verbose("no")], [false, false, false, false]);
  const told = async (env: Record<string, string>) => (await runLlmprof(["io", "--pid", "4194305"], { env })).stderr;
  assert.match(await told({ LLMPROF_DURATION: "0" }), /^--duration cannot be '0' from env/, "a value is one");
  for (const [name, no] of [["DURATION", ""], ["COMM", ""], ["FROM", ""], ["FSYNC", "0"], ["REDACT", "false"]]) {
    assert.match(await told({ [`LLMPROF_${name}`]: no! }), /^There is no process 4194305\./, name);
  }
  // Of a mistake under --redact no word is told that may name something.
  const mistaken = async (LLMPROF_REDACT: string) => (await runLlmprof(["export", "/geheim/r.llmprof"], { env: { LLMPROF_REDACT } })).stderr;
  assert.deepEqual([(await mistaken("1")).includes("geheim"), (await mistaken("0")).includes("geheim")], [false, true]);
});

Deno.test("usage: a file that is there keeps its contents when the run cannot begin", async () => {
  using folder = temporary();
  Deno.writeTextFileSync(folder.file("a.json"), "kept");
  const { code } = await runLlmprof(["operators", "--pid", "4194305", "-o", folder.file("a.json")]);
  assert.deepEqual([code, Deno.readTextFileSync(folder.file("a.json"))], [2, "kept"]);
});

Deno.test("--verbose shows the cause of a failure, and only --verbose", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path, () => "{");
  const brief = await runLlmprof(["export", path]);
  assert.doesNotMatch(brief.stderr, /^\s+at /m);
  const verbose = await runLlmprof(["export", path, "--verbose"]);
  assert.match(verbose.stderr, /Caused by: SyntaxError.*\n\s+at /);
  assert.deepEqual([brief.code, verbose.code], [1, 1]);
});
