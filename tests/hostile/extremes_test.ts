/** Numbers that no program sends: whoever reads them as a place in a list, a length or a number of steps must not be kept at it. */
import assert from "node:assert/strict";
import { profiles } from "../../lib/commands/profiles.ts";
import { runLlmprof } from "../cli/llmprof.ts";
import { seeded } from "../harness/spans.ts";
import { temporary } from "../harness/temporary.ts";
import { extremeRecording } from "./extreme_recording.ts";
import { undecodableLines } from "./line_grammar.ts";

/** Together they have every probe. It takes a second or two. */
for (const name of ["record", "operators of learned torch", "io of totals", "sched of totals"]) {
  Deno.test(`extremes: each number of each record of '${name}' may be any, and keys of maps as many, and a replay comes to its end`, async () => {
    using folder = temporary();
    const { recording: { head, bytes }, misshapen } = extremeRecording(await profiles[name]!(), seeded(2));
    const path = folder.file("a.llmprof");
    Deno.mkdirSync(path);
    Deno.writeTextFileSync(`${path}/header.json`, head);
    for (const [stream, lines] of bytes) Deno.writeFileSync(`${path}/${stream}.lines`, lines);
    const outputs = ["pftrace", "json", "jsonl", "dot"].flatMap((format) => ["-o", folder.file(`a.${format}`)]);
    const { code, stdout, stderr, timedOut } = await runLlmprof(["export", path, ...outputs, "--summary", "json"], { timeoutMilliseconds: 60_000 });
    assert.ok(!timedOut, "it took longer than a minute");
    assert.equal(code, 0, stderr);
    const told = new TextDecoder().decode(bytes.get("all")).match(/^\d{2,} /gm)!.length;
    const unread = undecodableLines(bytes.get("all")!, BigInt(JSON.parse(head).clock.base));
    assert.equal(JSON.parse(stdout).events.received, told - unread);
    assert.ok(unread < told / 100, "nearly all of it is read");
    JSON.parse(Deno.readTextFileSync(folder.file("a.json")));
    assert.equal(Deno.readTextFileSync(folder.file("a.jsonl")).match(/not understood: @m/g)?.length ?? 0, misshapen);
  });
}
