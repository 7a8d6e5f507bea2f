import assert from "node:assert/strict";
import { type ElfFile, SectionType } from "./elf.ts";
import { readMarkers } from "./usdt.ts";

const text = new TextEncoder();

/** A note: three numbers, its owner, and what it says. */
function note(owner: string, type: number, said: Uint8Array): number[] {
  const padded = (bytes: readonly number[]) => [...bytes, ...Array<number>((4 - bytes.length % 4) % 4).fill(0)];
  const head = new Uint8Array(12), view = new DataView(head.buffer);
  [owner.length + 1, said.length, type].forEach((value, i) => view.setUint32(4 * i, value, true));
  return [...head, ...padded([...text.encode(`${owner}\0`)]), ...padded([...said])];
}

const marker = (provider: string, name: string) =>
  note("stapsdt", 3, new Uint8Array([...new Uint8Array(24), ...text.encode(`${provider}\0${name}\0-4@%edi\0`)]));

function file(...notes: readonly number[][]): ElfFile {
  const bytes = Uint8Array.from(notes.flat());
  const section = { name: ".note.stapsdt", type: SectionType.note, address: 0, offset: 0, size: bytes.length, link: 0 };
  return {
    machine: "x86_64",
    segments: [],
    sections: [section],
    read: (at: number, length: number) => Promise.resolve(bytes.slice(at, at + length)),
  };
}

Deno.test("markers of a file, each once, whoever else writes notes there", async () => {
  const elf = file(
    marker("parcagpu", "kernel_executed"),
    note("GNU", 3, new Uint8Array(20)),
    marker("parcagpu", "kernel_executed"),
    marker("libc", "setjmp"),
  );
  assert.deepEqual(await readMarkers(elf), [{ provider: "parcagpu", name: "kernel_executed" }, { provider: "libc", name: "setjmp" }]);
  assert.deepEqual(await readMarkers({ ...elf, sections: [] }), []);
});

Deno.test("a note that is cut short, or says that it is longer than the file, is no marker, and ends nothing in an error", async () => {
  const whole = marker("parcagpu", "kernel_executed");
  for (let length = 0; length < whole.length - 4; length += 3) {
    const elf = file(whole.slice(0, length));
    assert.deepEqual(await readMarkers(elf), [], `${length} bytes`);
  }
  const huge = [...whole];
  huge.splice(4, 4, 255, 255, 255, 255);
  const elf = file(huge);
  assert.deepEqual(await readMarkers(elf), []);
});
