import assert from "node:assert/strict";
import { assembled } from "../../../tests/harness/assembled.ts";
import { kernelTest } from "../../../tests/harness/kernel.ts";
import { temporary } from "../../../tests/harness/temporary.ts";
import { parseElfFunctions } from "../../../tests/harness/nm.ts";
import { chooseSite } from "../../programs/site.ts";
import { callTimes, codes, hitFunction, hitKinds, hitsProgram } from "./programs.ts";

for (const [arch, prefix] of [["x86_64", ""], ["aarch64", "aarch64-linux-gnu-"]] as const) {
  kernelTest(`${arch}: the embedded program is what its source assembles to`, { [arch === "x86_64" ? "gcc" : "aarch64"]: true }, async () => {
    using folder = temporary();
    const code = await assembled(new URL(`./${arch}.s`, import.meta.url), folder, prefix);
    assert.equal(code.toHex(), Uint8Array.fromBase64(codes[arch].code).toHex());
    const theirs = await parseElfFunctions(`${prefix}nm`, folder.file("program"));
    Deno.writeFileSync(folder.file("ours"), hitsProgram(arch));
    const ours = await parseElfFunctions(`${prefix}nm`, folder.file("ours"));
    for (const name of hitKinds.map(hitFunction)) assert.equal(ours.get(name), theirs.get(name), name);
    assert.equal(ours.size, hitKinds.length);
  });
}

Deno.test("each function is of its own class, at its first instruction, on every host", () => {
  for (const arch of ["x86_64", "aarch64"] as const) {
    const { code, functions } = codes[arch];
    const host = { symbols: true, offsets: true, kernel: "6.18.44", arch };
    const found = functions.map((at) => chooseSite(Uint8Array.fromBase64(code).subarray(at, at + 16), 16, host, "entry"));
    assert.ok(found.every((site) => site?.offset === 0), JSON.stringify(found));
    // A kernel on aarch64 knows no cheaper nop.
    const kinds = arch === "x86_64"
      ? ["nop", "emulated", "stepped", "emulated", "emulated"]
      : ["stepped", "emulated", "stepped", "emulated", "emulated"];
    assert.deepEqual(found.slice(1).map((site) => site?.cost), kinds);
  }
});

for (const arch of ["x86_64", "aarch64"] as const) {
  Deno.test(`${arch}: a kernel with pages of any size can load the program`, () => {
    const view = new DataView(hitsProgram(arch).buffer);
    const first = Number(view.getBigUint64(32, true)), size = view.getUint16(54, true), headers = view.getUint16(56, true);
    const loaded = Array.from({ length: headers }, (_, i) => first + i * size).filter((at) => view.getBigUint64(at + 32, true) > 0n);
    assert.equal(loaded.length, 1);
    for (const at of loaded) {
      const offset = view.getBigUint64(at + 8, true), address = view.getBigUint64(at + 16, true);
      // fs/binfmt_elf.c maps the page of the address from the offset less what the address is past that page: mmap(2) takes multiples of a page alone.
      for (const page of [0x1000n, 0x4000n, 0x10000n, view.getBigUint64(at + 48, true)]) assert.equal((address - offset) % page, 0n, String(page));
    }
  });
}

const runs = Deno.build.arch === "x86_64" || Deno.build.arch === "aarch64";

Deno.test({
  name: "the program waits, calls each function 2400 times, and writes how long each call took with what is read before",
  ignore: Deno.build.os !== "linux" || !runs,
  async fn() {
    using folder = temporary();
    Deno.writeFileSync(folder.file("hits"), hitsProgram(Deno.build.arch), { mode: 0o700 });
    const child = new Deno.Command(folder.file("hits"), { stdin: "piped", stdout: "piped" }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new Uint8Array(1));
    await writer.close();
    const { code, stdout } = await child.output();
    assert.equal(code, 0);
    const times = callTimes(stdout)!;
    for (const kind of hitKinds) assert.equal(times[kind].length, 2400);
    // Nothing but a few instructions lies between one and the next.
    const sum = Object.values(times).flat().reduce((a, b) => a + b, 0);
    const view = new DataView(stdout.buffer);
    const whole = Number(view.getBigUint64(stdout.length - 8, true) - view.getBigUint64(8, true));
    assert.ok(sum > 0.9 * whole && sum < whole, `${sum} of ${whole}`);
  },
});

Deno.test("without its byte the program ends and writes nothing", { ignore: Deno.build.os !== "linux" || !runs }, async () => {
  using folder = temporary();
  Deno.writeFileSync(folder.file("hits"), hitsProgram(Deno.build.arch), { mode: 0o700 });
  const { code, stdout } = await new Deno.Command(folder.file("hits"), { stdin: "null" }).output();
  assert.equal(code, 1);
  assert.equal(stdout.length, 0);
});

Deno.test("what the program cannot have written is no measurement", () => {
  for (const length of [0, 7, 32, 32 + 8 * 5, 32 + 8 * 7, 32 + 8 * 6]) assert.equal(callTimes(new Uint8Array(length)), null, String(length));
});
