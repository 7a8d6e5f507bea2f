/** Whether the kernel accepts a probe on an instruction, as it says itself. */
import assert from "node:assert/strict";
import { LARGEST_PAGE, writeElf } from "../../lib/machine/elf_writer.ts";
import { chooseSite } from "../../lib/programs/site.ts";
import { start } from "../harness/command.ts";
import { emulated, nops, refused, shortNop, stepped } from "../harness/instructions.ts";
import { kernelTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";

const tracing = "/sys/kernel/tracing";
const ADDRESS = 0x400000, FIRST = 0x1000, ROOM = 16;
/** `pause()`, again and again: the kernel looks at an instruction when somebody has mapped it. */
const waiting = Uint8Array.fromHex("b8220000000f05ebf7");

/** Every opcode of one byte, and of two, between registers and with memory: that takes a minute. */
const opcodes = Array.from({ length: 512 }, (_, i) => (i < 256 ? "" : "0f") + (i % 256).toString(16).padStart(2, "0"));
const rare = Deno.env.has("LLMPROF_TEST_ALL") ? opcodes.flatMap((opcode) => [`${opcode}c0`, `${opcode}07`]) : [];
const all = [...emulated, ...stepped, ...nops, ...refused, shortNop, ...rare];

const name = "sites: the kernel accepts a probe on every instruction on which llmprof would place one";
if (Deno.build.arch === "x86_64") {
  kernelTest(name, { root: true }, async () => {
    using folder = temporary();
    const path = folder.file("instructions");
    const code = all.map((hex) => Uint8Array.fromHex(hex.replaceAll(" ", "")));
    const bytes = new Uint8Array(FIRST + code.length * ROOM);
    bytes.set(waiting);
    code.forEach((one, i) => bytes.set(one, FIRST + i * ROOM));
    const text = { name: ".text", type: 1, flags: 6, address: ADDRESS, bytes };
    const segments = [{ flags: 5, address: ADDRESS, contents: { section: ".text" } }];
    Deno.writeFileSync(path, writeElf({ arch: "x86_64", entry: ADDRESS, segments, sections: [text], symbols: [] }), { mode: 0o755 });
    await using _mapped = start([path]);
    const group = `llmprof_${Deno.pid}`, events = `${tracing}/uprobe_events`;
    const append = (lines: readonly string[]) => Deno.writeTextFileSync(events, lines.map((line) => `${line}\n`).join(""), { append: true });
    // Where it lies in the file: behind the headers.
    append(code.map((_, i) => `p:${group}/at${i} ${path}:0x${(LARGEST_PAGE + FIRST + i * ROOM).toString(16)}`));
    try {
      const kernel = (await Deno.readTextFile("/proc/sys/kernel/osrelease")).trim();
      const wrong = code.flatMap((_, i) => {
        const own = bytes.subarray(FIRST + i * ROOM, FIRST + (i + 1) * ROOM);
        const chosen = chooseSite(own, ROOM, { symbols: false, offsets: false, kernel, arch: "x86_64" }, "entry");
        const isAccepted = accepts(`${tracing}/events/${group}/at${i}/enable`);
        // It may refuse more than the kernel does.
        return chosen && !isAccepted ? [all[i]] : [];
      });
      assert.deepEqual(wrong, []);
    } finally {
      append(code.map((_, i) => `-:${group}/at${i}`));
    }
  });
}

function accepts(enable: string): boolean {
  try {
    Deno.writeTextFileSync(enable, "1");
  } catch {
    return false;
  }
  Deno.writeTextFileSync(enable, "0");
  return true;
}
