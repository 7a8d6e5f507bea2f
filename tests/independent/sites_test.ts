import assert from "node:assert/strict";
import { join } from "node:path";
import { chooseSite, type SiteHost } from "../../lib/programs/site.ts";
import { mustRun } from "../harness/command.ts";
import { kernelTest } from "../harness/kernel.ts";
import { top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";
import { disassemble, type Instruction } from "./disassembly.ts";

const source = join(top, "tests", "workloads", "entries.c");

/** What the kernel makes of an instruction, by the name that the disassembler gives it. */
type Judge = (instruction: Instruction) => "nop" | "emulated" | "stepped" | "refused";

const x86: Judge = ({ mnemonic, operands, bytes }) => {
  if (mnemonic.startsWith("lock") || ["ud2", "hlt", "int3"].includes(mnemonic) || /^(cs|ds|data16 cs) /.test(mnemonic)) return "refused";
  if (/^nop[wl]?$/.test(mnemonic)) return bytes.length === 5 ? "nop" : "emulated";
  if (mnemonic === "push") return operands.startsWith("%") ? "emulated" : "stepped";
  if (mnemonic === "xchg" && operands === "%ax,%ax") return "emulated";
  const isDirect = /^[0-9a-f]+ </.test(operands);
  if (["jmp", "call"].includes(mnemonic) || /^j\w+$/.test(mnemonic)) return isDirect ? "emulated" : "stepped";
  return "stepped";
};

const arm: Judge = ({ mnemonic, operands }) => {
  if (["brk", "svc", "udf", "hlt", ".inst"].includes(mnemonic) || /^(ld|st)[al]?x[rp]/.test(mnemonic)) return "refused";
  if (["autiasp", "autibsp", "retaa", "retab"].includes(mnemonic)) return "refused";
  if (/^(ldr|ldrsw|prfm)$/.test(mnemonic) && !operands.includes("[")) return "refused";
  return /^(b|bl|b\.\w+|cbn?z|tbn?z|adrp?|br|blr|ret)$/.test(mnemonic) ? "emulated" : "stepped";
};

/** Whether it is a jump to behind the beginning, and to the place at most. */
function leadsInto({ mnemonic, operands }: Instruction, beginning: number, place: number): boolean {
  const target = parseInt(/([0-9a-f]+) <[^>]*>$/.exec(operands)?.[1] ?? "", 16);
  return !/^(call|bl|lea|adrp?)/.test(mnemonic) && target > beginning && target <= place;
}

const builds = [
  ...["-O0", "-O2", "-Os"].flatMap((level) =>
    ["-fcf-protection=full", "-fcf-protection=none"].map((
      flag,
    ) => ({ arch: "x86_64", flags: [level, flag], need: "gcc", prefix: "", judge: x86 } as const))
  ),
  ...["-O0", "-O2", "-Os"].flatMap((level) =>
    ["-mbranch-protection=standard", "-mbranch-protection=none"].map((flag) =>
      ({ arch: "aarch64", flags: [level, flag], need: "aarch64", prefix: "aarch64-linux-gnu-", judge: arm }) as const
    )
  ),
];

for (const { arch, flags, need, prefix, judge } of builds) {
  kernelTest(`sites in a file for ${arch} ${flags.join(" ")} are what the disassembler says`, { [need]: true }, async () => {
    using folder = temporary();
    const library = folder.file("entries.so");
    await mustRun([`${prefix}gcc`, ...flags, "-fPIC", "-shared", "-nostdlib", "-o", library, source]);
    const functions = await disassemble(`${prefix}objdump`, library, arch === "aarch64");
    const host: SiteHost = { symbols: true, offsets: true, kernel: "6.18.44", arch };
    let moved = 0, seen = 0;
    for (const [name, instructions] of functions) {
      const code = new Uint8Array(instructions.flatMap(({ bytes }) => [...bytes]));
      const start = instructions[0]!.address;
      for (const instruction of instructions) {
        const { address, mnemonic, operands } = instruction;
        const told = `${name}+${address - start}: ${mnemonic} ${operands}`;
        const rest = code.subarray(address - start);
        const choice = chooseSite(rest, rest.length, host, "entry");
        const expected = judge(instruction);
        seen++;
        if (choice === null || expected === "refused") {
          assert.equal(choice === null ? "refused" : choice.cost, expected, told);
          continue;
        }
        const placed = instructions.find((other) => other.address === address + choice.offset);
        assert.ok(placed, `${told}: not an instruction`);
        assert.equal(choice.cost, judge(placed), told);
        if (choice.offset === 0) continue;
        const back = instructions.filter((other) => other.address >= address && leadsInto(other, address, placed.address));
        assert.deepEqual(back.map(({ mnemonic, operands }) => `${mnemonic} ${operands}`), [], `${told}: a jump comes back to it`);
        if (!/^(test|cmp)/.test(mnemonic)) moved++;
        assert.match(mnemonic, /^(endbr64|bti|hint|test|cmp[bl]?)$/, told);
        assert.ok(["nop", "emulated"].includes(choice.cost), told);
      }
    }
    assert.ok(functions.size >= 15 && seen > 60, `${functions.size} functions, ${seen} instructions`);
    assert.equal(moved > 0, /full|standard/.test(flags.join()), `${moved} sites were moved behind a landing pad`);
  });
}
