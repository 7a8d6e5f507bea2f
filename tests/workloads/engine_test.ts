import assert from "node:assert/strict";
import { kernelTest } from "../harness/kernel.ts";
import process from "node:process";
import { temporary } from "../harness/temporary.ts";
import { parseEngineLog } from "./engine_log.ts";
import { engineRun, startEngine } from "./engine_run.ts";
import { model } from "./model.ts";

kernelTest("the engine waits for its file before it decodes", { engine: true }, async () => {
  using folder = temporary();
  const [waitFile, log] = [folder.file("go"), folder.file("log")];
  await using engine = startEngine({ model: model("tiny"), tokens: 3, waitFile, log });
  await engine.saw('"waiting"');
  const released = process.hrtime.bigint();
  Deno.writeTextFileSync(waitFile, "");
  assert.equal((await engine.finished()).code, 0);
  const said = parseEngineLog(Deno.readTextFileSync(log));
  assert.equal(said.pid, engine.pid);
  assert.equal(said.generated.tokens, 3);
  if (said.clock.source === "never slept") assert.ok(said.times.generateStart > released);
});

kernelTest("the engine's moments follow each other", { engine: true }, async () => {
  const { times, tokenTimes } = await engineRun({ model: model("moe"), tokens: 2 });
  const order = ["processStart", "nodeStart", "importEnd", "modelLoadStart", "modelLoadEnd", "contextStart", "contextEnd", "generateStart"] as const;
  const moments = [...order.map((name) => times[name]), times.firstToken, ...tokenTimes.slice(1), times.generateEnd, times.end];
  assert.deepEqual(moments, moments.toSorted((a, b) => Number(a - b)));
});
