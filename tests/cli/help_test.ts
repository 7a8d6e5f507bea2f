import assert from "node:assert/strict";
import { commandLine } from "../../lib/commands/cli.ts";
import help from "../../lib/commands/help.txt" with { type: "text" };
import { runLlmprof } from "./llmprof.ts";

const terminal = { out() {}, err() {}, width: 100, colour: false, typed: false };
const ends = { interrupted: Promise.resolve(), heedSignals() {}, atKill() {}, retellFailures() {} };
const program = commandLine({ terminal, ...ends, argv: ["llmprof"], version: "1.2.3" }, () => {});

Deno.test("the help names every command, and no other", () => {
  const named = [...help.matchAll(/^ {2}(\w+) {2,}\w.* .*$/gm)].map(([, name]) => name!).filter((name) => !/^\d/.test(name));
  assert.deepEqual(named.toSorted(), program.commands.map((command) => command.name()).toSorted());
  for (const line of help.split("\n")) assert.ok(line.length <= 80, line);
});

Deno.test("every command explains itself with two real examples or more, and its options by group with their environment", () => {
  for (const command of program.commands) {
    let text = "";
    command.configureOutput({ writeOut: (part) => text += part }).outputHelp();
    const [, examples = ""] = text.split("Examples:");
    assert.ok(examples.trim().split("\n").length >= 2, `${command.name()}: ${examples}`);
    assert.ok(examples.trim().split("\n").every((line) => line.includes("llmprof ")), examples);
    assert.doesNotMatch(text, /^Options:/m, "every option has a group");
    if (command.name() !== "completions") assert.match(text, /env: LLMPROF_VERBOSE/);
  }
});

Deno.test("an example of the help is a command line that is understood", async () => {
  const lines = program.commands.flatMap((command) => {
    let text = "";
    command.configureOutput({ writeOut: (part) => text += part }).outputHelp();
    return text.split("Examples:")[1]!.split("\n").map((line) => /llmprof ([^|>)]*?)(?: {2,}.*)?(?: [|>].*|\).*)?$/.exec(line.trim())?.[1]).filter((
      l,
    ) => l);
  });
  assert.ok(lines.length > 15);
  for (const line of lines) {
    const argv = ["llmprof", ...line!.trim().split(" ")];
    const tried = commandLine({ terminal, ...ends, argv, version: "1.2.3" }, () => {});
    for (const command of tried.commands) command.action(() => {});
    await assert.doesNotReject(tried.parseAsync(argv.slice(1), { from: "user" }), line);
  }
});

Deno.test("help goes to stdout with 0, its absence to stderr with 2", async () => {
  for (const args of [["--help"], ["-h"], ["help"]]) {
    const { code, stdout, stderr } = await runLlmprof(args);
    assert.deepEqual([code, stdout, stderr], [0, help, ""]);
  }
  const none = await runLlmprof([]);
  assert.deepEqual([none.code, none.stdout, none.stderr], [2, "", help]);
  const operators = await runLlmprof(["operators", "--help"]);
  assert.deepEqual([operators.code, operators.stderr], [0, ""]);
  assert.match(operators.stdout, /^Usage: llmprof operators/);
  const asked = await runLlmprof(["help", "operators"]);
  assert.deepEqual([asked.code, asked.stdout, asked.stderr], [0, operators.stdout, ""]);
  const unknown = await runLlmprof(["help", "paint"]);
  assert.deepEqual([unknown.code, unknown.stdout, unknown.stderr], [2, "", help]);
});

Deno.test("the version is that of deno.json", async () => {
  const { version } = JSON.parse(Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)));
  assert.deepEqual(await runLlmprof(["--version"]).then(({ code, stdout }) => [code, stdout]), [0, `${version}\n`]);
});
