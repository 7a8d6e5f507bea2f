/** Tokens alone until one is slow, then operators for a while: the slow one is planted, and a machine that stands still makes others. */
import { setTimeout as pause } from "node:timers/promises";
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { parseEngineLog } from "../../workloads/engine_log.ts";
import { busyEngine, ROUND_TOKENS } from "../../workloads/engine_run.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "../live_run.ts";
import { until } from "../processes.ts";
import { differingReplays } from "../replayed.ts";
import { type WatchedTurn, watchedTurns } from "../watched_turns.ts";

/** A token takes some milliseconds: it is slow where it takes tenths of a second. */
const FACTOR = 50, STOP_MS = 1500, WINDOW_MS = 500;
/** A token is compared with the median of so many before it, of which some have to be known. */
const REMEMBERED = 64, ENOUGH = 16;

sampledTest(
  0,
  "--slower-than: a slow token, planted or not, brings the operators of the tokens that follow, and no other does",
  { engine: true },
  async ({ path }) => {
    using folder = temporary();
    await using engine = await busyEngine(folder, "small");
    const flags = ["--slower-than", `${FACTOR}x`, "--for", `${WINDOW_MS}ms`];
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: engine.pid }, formats: allFormats, flags });
    await llmprof.saw("Tracing process");
    const said = (text: string) => llmprof.stderr().split(text).length;
    // Twice. A stop that comes while the engine begins anew, or while nothing is attached, lengthens no token.
    for (let times = 1; times <= 2; times++) {
      const told = llmprof.saw(new RegExp(`(A token took \\d{4,}\\.\\d ms[^]*?){${times}}`));
      for (let isTold = false; !isTold;) {
        await until("tokens alone are looked at", () => said("A token took") === said("Tokens alone again"));
        Deno.kill(engine.pid, "SIGSTOP");
        await pause(STOP_MS);
        Deno.kill(engine.pid, "SIGCONT");
        isTold = await Promise.race([told.then(() => true), pause(5000).then(() => false)]);
      }
      await llmprof.saw(new RegExp(`(A token took \\d{4,}[^]*?Tokens alone again[^]*?){${times}}`));
    }
    llmprof.kill("SIGINT");
    const { result, events, notes } = summaryOf("operators", await llmprof.finished());
    await engine.end();
    assert.deepEqual([events.lost, events.received, result.detail], [0, events.emitted, "op"]);
    assert.ok(result.operators.some(({ name }) => name === "MUL_MAT"));
    const turns = watchedTurns(outputPath(folder, "jsonl")), why = (turn?: WatchedTurn) => turn?.notes.find((note) => SLOW.test(note));
    assert.equal(result.windows.count, turns.filter(({ opened }) => opened !== undefined).length);
    assert.deepEqual(notes.filter((note) => SLOW.test(note)), turns.flatMap((turn) => why(turn) ?? []));

    const { tokenTimes } = parseEngineLog(Deno.readTextFileSync(engine.log));
    const recent: number[] = [];
    // In the last one llmprof was told to end.
    for (const [index, turn] of turns.slice(0, -1).entries()) {
      const { opened, closed, ends, operators } = turn;
      // Every call gives a token, which the script has before the next call ends: so that of each call is known, and what lies between two.
      let token = 0;
      const tokens = ends.map((end) => {
        while (tokenTimes[token]! <= end) token++;
        return token;
      });
      assert.deepEqual(tokens, tokens.map((_, i) => tokens[0]! + i), "each token that the engine's log has, and no other");
      if (why(turn) !== undefined) {
        assert.ok(closed! - opened! >= BigInt(WINDOW_MS) * 1_000_000n, `${closed! - opened!} ns`);
        // A machine may stand still for all of it.
        const computed = tokenTimes.filter((time) => time > opened! && time < closed!).length;
        assert.ok(operators > 0 || computed < 2, `${operators} operators of ${computed} tokens`);
        continue;
      }
      assert.equal(operators, 0);
      assert.equal(why(turns[index + 1]), firstSlow(ends.map((end, i) => ({ end, isFirst: tokens[i]! % ROUND_TOKENS === 0 })), recent));
    }
    // Time outside of graphs is that of the calls whose graphs were seen.
    const { graphsInDecodeNs, outsideGraphNs, decodeNs } = result.time;
    assert.ok(outsideGraphNs! > 0 && graphsInDecodeNs! + outsideGraphNs! < decodeNs);
    assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
  },
);

const SLOW = /^a token took/;

/** What has to be said of the first slow token. `recent`: times of tokens before, to which those until then come. */
function firstSlow(calls: readonly { readonly end: bigint; readonly isFirst: boolean }[], recent: number[]): string | undefined {
  for (const [i, { end, isFirst }] of calls.entries()) {
    if (i === 0 || isFirst) continue;
    const ns = Number(end - calls[i - 1]!.end), known = recent.slice(-REMEMBERED).sort((a, b) => a - b), median = known[known.length >> 1]!;
    recent.push(ns);
    if (known.length < ENOUGH || ns <= FACTOR * median) continue;
    const ms = (value: number) => (value / 1e6).toFixed(1);
    return `a token took ${ms(ns)} ms, ${(ns / median).toFixed(1)} times the median of those before (${ms(median)} ms): ` +
      `operators are looked at for ${WINDOW_MS / 1000} s`;
  }
}
