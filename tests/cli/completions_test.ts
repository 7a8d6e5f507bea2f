import assert from "node:assert/strict";
import { mustRun } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { runLlmprof } from "./llmprof.ts";

/** What is typed, the last word unfinished, and what a bash offers for it. */
const typed: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [[""], ["coldstart", "operators", "gpu", "io", "sched", "record", "export", "report", "doctor", "demo", "completions"]],
  [["op"], ["operators"]],
  [["x"], []],
  [["operators", "--su"], ["--summary"]],
  [["operators", "--pid", "1", "--d"], ["--duration", "--detail", "--dry-run"]],
  [["operators", "--detail", ""], ["wait", "op", "sum", "graph", "sample", "token"]],
  [["coldstart", "--d"], ["--duration", "--dry-run"]],
  [["operators", "--summary", ""], ["text", "json"]],
  [["operators", "--summary", "j"], ["json"]],
  [["demo", "--l"], ["--live"]],
  [["completions", ""], ["bash", "zsh", "fish"]],
  // A path, and another program's command line: left to bash, which completes files.
  [["operators", "-o", ""], []],
  [["operators", "--", "--su"], []],
];

Deno.test({
  name: "a real bash completes commands, options and values",
  ignore: findProgram("bash") === null,
  async fn() {
    using folder = temporary();
    // What an installed llmprof is: a program of that name on PATH.
    Deno.writeTextFileSync(folder.file("llmprof"), `#!/bin/sh\nexec ${llmprof.map((word) => `'${word}'`).join(" ")} "$@"\n`, { mode: 0o755 });
    const script = `
      source <(llmprof completions bash)
      source <(llmprof completions bash)
      offer() {
        COMP_WORDS=(llmprof "$@"); COMP_CWORD=$#; COMP_LINE="llmprof $*"; COMP_POINT=\${#COMP_LINE}; COMPREPLY=()
        # compopt works only while bash itself completes.
        __llmprof_complete 2>/dev/null
        echo "\${COMPREPLY[*]}"
      }
      ${typed.map(([words]) => `offer ${words.map((word) => `'${word}'`).join(" ")}`).join("\n")}
      complete -p llmprof`;
    const env = { PATH: `${folder.path}:${Deno.env.get("PATH")}` };
    const { stdout, stderr } = await mustRun(["bash", "--norc", "--noprofile", "-c", script], { env });
    const lines = stdout.trimEnd().split("\n");
    assert.deepEqual(lines.slice(0, -1).map((line) => line.split(" ").filter(Boolean)), typed.map(([, offered]) => [...offered]));
    assert.equal(lines.at(-1), "complete -o default -F __llmprof_complete llmprof");
    assert.equal(stderr, "", "reading the script twice is no error");
  },
});

Deno.test("zsh and fish get their own scripts", async () => {
  assert.match((await runLlmprof(["completions", "zsh"])).stdout, /^#compdef llmprof\n/);
  assert.match((await runLlmprof(["completions", "fish"])).stdout, /^complete -c llmprof /m);
});

Deno.test("where a file or a folder is wanted, names of these are left to the shell, and nowhere else", async () => {
  const answer = async (...words: readonly string[]) => (await runLlmprof(["complete", "--", ...words])).stdout;
  const wanted = [
    ["io", "--snapshots", ""],
    ["gpu", "--cuda-jsonl", ""],
    ["report", "--png", "pic"],
    ["record", "--from", ""],
    ["export", ""],
    ["export", "--no-output", "ru"],
    ["report", ""],
    ["report", "a.jsonl", ""],
  ];
  for (const words of wanted) assert.equal(await answer(...words), ":0\n", words.join(" "));
  assert.match(await answer("export", "--summary", ""), /^text\t*\njson\t*\n/);
  assert.match(await answer("report", "--p"), /^--png\t/);
  assert.match(await answer("completions", ""), /^bash\t*\n/);
  for (const words of [["exp"], ["operators", "--pid", ""], ["operators", ""], ["export", "--max-loss", ""]]) {
    assert.notEqual(await answer(...words), ":0\n", words.join(" "));
  }
});
