import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { access } from "../files/access.ts";
import { fault } from "./fault.ts";

const MS = 1e6;

function withMappings(): Decoding {
  const d = new Decoding(fault, access);
  d.event(1, "files/access.map", { address: 0x1000, length: 0x4000, name: "small.gguf" });
  d.event(2, "files/access.anonymous", { address: 0x9000, length: 0x1000 });
  return d;
}

Deno.test("fault: faults close together in one mapping are one touch", () => {
  const d = withMappings();
  d.event(10 * MS, "memory/fault.fault", { address: 0x1000, count: 1 });
  d.event(12 * MS, "memory/fault.fault", { address: 0x4fff, count: 30 });
  d.event(17 * MS, "memory/fault.fault", { address: 0x2000, count: 20 });
  d.event(22.1 * MS, "memory/fault.fault", { address: 0x2000, count: 5 });
  assert.deepEqual(d.end(30 * MS), [
    '100 <page faults 100> memory.touch "fault in small.gguf" 10000000–17000000 file=small.gguf faults=51',
    '100 <page faults 100> memory.touch "fault in small.gguf" 22100000–22100000 file=small.gguf faults=5',
  ]);
});

Deno.test("fault: each thread and each mapping has touches of its own; memory that no mapping was seen of is not drawn", () => {
  const d = withMappings();
  d.event(10 * MS, "memory/fault.fault", { address: 0x1000, count: 1 });
  d.event(10 * MS, "memory/fault.fault", { address: 0x1000, count: 2 }, "100/101");
  d.event(11 * MS, "memory/fault.fault", { address: 0x9000, count: 3 });
  d.event(12 * MS, "memory/fault.fault", { address: 0x5000, count: 4 });
  d.event(13 * MS, "memory/fault.fault", { address: 0x1000, count: 5 }, "200");
  assert.deepEqual(d.end(30 * MS), [
    '100 <page faults 100> memory.touch "fault in small.gguf" 10000000–10000000 file=small.gguf faults=1',
    '100 <page faults 100> memory.touch "fault in memory" 11000000–11000000 faults=3',
    '100 <page faults 101> memory.touch "fault in small.gguf" 10000000–10000000 file=small.gguf faults=2',
  ]);
});

Deno.test("fault: a new mapping covers an older one", () => {
  const d = withMappings();
  d.event(3, "files/access.map", { address: 0x2000, length: 0x1000, name: "other.gguf" });
  d.event(10, "memory/fault.fault", { address: 0x2000, count: 1 });
  assert.match(d.end(30)[0]!, /fault in other\.gguf/);
});

Deno.test("fault: the exact count is a counter of the process", () => {
  const d = new Decoding(fault);
  d.snapshot(10, "memory/fault.faults", [100], 1009);
  d.snapshot(20, "memory/fault.faults", [], 5);
  assert.deepEqual(d.told(), ["100 <page faults> = 1009 at 10"]);
});
