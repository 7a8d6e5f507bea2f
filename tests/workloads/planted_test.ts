import assert from "node:assert/strict";
import { mustRun } from "../harness/command.ts";
import { kernelTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { lastOfThree } from "../kernel/last_of_three.ts";
import { dropFromCache, residentBytes } from "./pagecache.ts";
import { parsePlantedLog, plantedCalls, plantedCommand, plantedMib, type PlantedPhase, plantFile } from "./planted.ts";

const mib = 1 << 20;

kernelTest("a planted target does its phases in the order asked for and logs them", { gcc: true }, async () => {
  using folder = temporary();
  const [log, readFile, mapFile] = [folder.file("log"), folder.file("read"), folder.file("map")];
  plantFile(readFile, plantedMib.read);
  plantFile(mapFile, plantedMib.map);
  const phases: PlantedPhase[] = ["load", "sleep", "map", "listen", "read", "lock"];
  await mustRun(plantedCommand({ log, phases, readFile, mapFile }));
  const lines = parsePlantedLog(Deno.readTextFileSync(log));
  assert.deepEqual(lines.map((line) => line.phase), ["main", ...phases, "exit"]);
  const [, load, sleep, map, , read, lock] = lines;
  assert.equal(load?.calls, plantedCalls);
  assert.ok(sleep!.end - sleep!.start >= 500_000_000n);
  assert.deepEqual([map?.bytes, read?.bytes, lock?.bytes], [plantedMib.map * mib, plantedMib.read * mib, plantedMib.lock * mib]);
  for (const [index, line] of lines.entries()) assert.ok(line.start >= (lines[index - 1]?.end ?? 0n));
});

kernelTest("pagecache says what is resident and drops one file", { gcc: true }, async () => {
  using folder = temporary();
  const path = folder.file("data");
  // A machine may take pages away at any time.
  const look = async () => {
    plantFile(path, 3);
    const written = await residentBytes(path), stayed = await dropFromCache(path);
    Deno.readFileSync(path);
    return { written, stayed, read: await residentBytes(path) };
  };
  const { written, stayed, read } = await lastOfThree(look, ({ written, read }) => written + read === 6 * mib);
  assert.deepEqual([written, read], [3 * mib, 3 * mib]);
  // A file in memory only (tmpfs) cannot be dropped.
  assert.ok(stayed === 0 || stayed === 3 * mib);
});
