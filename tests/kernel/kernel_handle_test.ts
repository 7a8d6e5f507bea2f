/** Kernels of HIP are known by a constant of the program: see tests/workloads/gpu/calls.c. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Fact } from "../../lib/events/fact.ts";
import { StackPlaces } from "../../lib/session/stack_places.ts";
import { mustRun, start } from "../harness/command.ts";
import { FolderFiles } from "../harness/folder_files.ts";
import { kernelTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";

kernelTest("gpu: the address of a kernel's constant in a real program is that of its name, as nm has it", { gcc: true, root: true }, async () => {
  using folder = temporary();
  const program = join(built.gpu.protected, "calls"), name = "_Z11lerp_kernelPf";
  await using target = start([program, "0", "1"], { env: { GPU_GO: folder.file("go") } });
  await target.saw("ready");
  const symbol = (await mustRun(["nm", program])).stdout.split("\n").find((line) => line.endsWith(` ${name}`))!;
  const [first] = Deno.readTextFileSync(`/proc/${target.pid}/maps`).split("\n").filter((line) => line.endsWith(program));
  const address = parseInt(first!, 16) + parseInt(symbol, 16);
  const facts: Fact[] = [], places = new StackPlaces(new FolderFiles(""), Deno.build.arch, (fact) => facts.push(fact));
  for (const [depth, at] of [[0, address], [0, address + 8]] as const) {
    places.firstTold({ at: 0, stream: "hip", record: "hip/calls.frame", pid: target.pid, tid: target.pid, values: [at, depth, at] });
    await places.look(target.pid);
  }
  const told = facts.map((fact) => fact.fact === "places" ? fact.places.map((place) => [place.at, place.file, place.name]) : null);
  assert.deepEqual(told[0], [[address, "calls", name]]);
  assert.ok(!told[1]!.some(([, , other]) => other === name), "what lies behind it");
});
