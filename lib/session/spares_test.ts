import assert from "node:assert/strict";
import { parseBpftrace } from "../machine/bpftrace.ts";
import { sizesOf } from "./spares.ts";

const info = "bfd: yes\n";
const ring = parseBpftrace("/b", "bpftrace v0.23.2", info)!, perCpu = parseBpftrace("/b", "bpftrace v0.17.0", info)!;

Deno.test("buffers: as many pages as were asked for on up to eight processors, and no more memory on more of them", () => {
  const machine = (cpus: number) => ({ cpus, possibleCpus: cpus, pageBytes: 4096 });
  const pages = (cpus: number, asked = 4096) => sizesOf(perCpu, asked, machine(cpus)).bufferPages;
  assert.deepEqual([1, 2, 8].map((cpus) => pages(cpus)), [4096, 4096, 4096]);
  assert.deepEqual([9, 16, 64, 128, 192].map((cpus) => pages(cpus)), [2048, 2048, 512, 256, 128]);
  assert.deepEqual([pages(4096), pages(128, 16384), pages(128, 16)], [64, 1024, 16], "neither fewer than 64, nor more than asked for");
  assert.equal(sizesOf(perCpu, 4096, machine(128)).mapKeys, 65_536, "the rows are in maps that all processors share");
  assert.equal(sizesOf(ring, 4096, machine(128)).bufferPages, 4096, "there is one for all");
});
