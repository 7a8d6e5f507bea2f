import { mustRun } from "../harness/command.ts";

/** An instruction as binutils' disassembler reads it. */
export interface Instruction {
  readonly address: number;
  readonly bytes: Uint8Array;
  /** With prefixes: `lock xadd`, `notrack jmp`. */
  readonly mnemonic: string;
  readonly operands: string;
}

/** Every instruction of every function in a file, by function. */
export async function disassemble(objdump: string, path: string, littleWords: boolean): Promise<Map<string, Instruction[]>> {
  const { stdout } = await mustRun([objdump, "-d", "--insn-width=16", path]);
  const functions = new Map<string, Instruction[]>();
  let current: Instruction[] = [];
  for (const line of stdout.split("\n")) {
    const name = /^[0-9a-f]+ <([^>+]+)>:$/.exec(line)?.[1];
    if (name !== undefined) functions.set(name, current = []);
    const found =
      /^\s+([0-9a-f]+):\s+([0-9a-f]{8}|(?:[0-9a-f]{2} )+)\s*\t?((?:(?:lock|notrack|bnd|rep|repz|repnz|cs|ds|data16|xacquire|xrelease|addr32) )*[\w.]+)\s*(.*)$/
        .exec(line);
    if (!found) continue;
    const bytes = Uint8Array.fromHex(found[2]!.replaceAll(" ", ""));
    current.push({ address: parseInt(found[1]!, 16), bytes: littleWords ? bytes.reverse() : bytes, mnemonic: found[3]!, operands: found[4]! });
  }
  return functions;
}
