import { writeElf } from "../elf_writer.ts";

/** What the program can be asked to do, in the order of its own table: see x86_64.s beside this file, from which it is assembled. */
export const tasks = ["read16", "read32", "sse", "fma", "fma512", "bytes256", "bytes512", "vnni256", "bf16"] as const;
export type Task = (typeof tasks)[number];

/** Floating-point operations of one round; bytes are multiplied as quantised weights are, and counted alike. None: a round reads all of the memory. */
export const operations: Readonly<Record<Task, number>> = {
  read16: 0,
  read32: 0,
  sse: 12 * 2 * 4,
  fma: 12 * 2 * 8,
  fma512: 12 * 2 * 16,
  bytes256: 12 * 2 * 32,
  bytes512: 12 * 2 * 64,
  vnni256: 12 * 2 * 32,
  bf16: 12 * 2 * 32,
};

/** Assembled from x86_64.s. */
export const code =
  "McAx/74AAAAQuhgAAAAPBYP4GA+FzAAAALgJAAAAMf9IizQlCAAAELoDAAAAQboiAAAAScfA/////0UxyQ8FSD0A8P//D4eaAAAASYnGSYnHTAM8JQgAABDGAAFIBQAQAABMOfhy8rgBAAAAice+AAAAEInCDwUxwDH/voAAABC6AQAAAA8Fg/gBdVlMiyQlEAAAEEiLBCUAAAAQSIP4CHdDu0AAABDoRQAAAEiLBCUAAAAQSI0NYQAAAEhjBIFIAcj/0LtIAAAQ6CMAAAC4AQAAAInHvkAAABC6EAAAAA8FMf/rBb8BAAAAuDwAAAAPBbjkAAAAvwEAAAC+gAAAEA8FSGkEJYAAABAAypo7SAMEJYgAABBIiQPDZpAkAAAAnwAAAOsAAACeAQAAJgIAALICAACKAwAA8gMAAGYEAABMifDzD28A8w9vQBDzD29AIPMPb0Aw8w9vQEDzD29AUPMPb0Bg8w9vQHDzD2+AgAAAAPMPb4CQAAAA8w9vgKAAAADzD2+AsAAAAPMPb4DAAAAA8w9vgNAAAADzD2+A4AAAAPMPb4DwAAAASAUAAQAATDn4co5J/8x1hsMPH0QAAEyJ8MX+bwDF/m9AIMX+b0BAxf5vQGDF/m+AgAAAAMX+b4CgAAAAxf5vgMAAAADF/m+A4AAAAEgFAAEAAEw5+HLCSf/MdbrDD1fJD1fSZmYuDx+EAAAAAABmZi4PH4QAAAAAAGZmLg8fhAAAAAAAZmYuDx+EAAAAAAAPH4AAAAAADyjBD1nCD1jgDyjBD1nCD1joDyjBD1nCD1jwDyjBD1nCD1j4DyjBD1nCRA9YwA8owQ9ZwkQPWMgPKMEPWcJED1jQDyjBD1nCRA9Y2A8owQ9ZwkQPWOAPKMEPWcJED1joDyjBD1nCRA9Y8A8owQ9ZwkQPWPhJ/8x1h8PF+FfAxfBXyWZmLg8fhAAAAAAAZmYuDx+EAAAAAABmZi4PH4QAAAAAAGZmLg8fhAAAAAAAZmYuDx+EAAAAAAAPH4AAAAAAxOJ9uOHE4n246cTifbjxxOJ9uPnEYn24wcRifbjJxGJ9uNHEYn242cRifbjhxGJ9uOnEYn248cRifbj5Sf/Mdb/DxfhXwMXwV8lmZi4PH4QAAAAAAGZmLg8fhAAAAAAAZmYuDx+EAAAAAABmZi4PH4QAAAAAAGYuDx+EAAAAAABi8n1IuOFi8n1IuOli8n1IuPFi8n1IuPlicn1IuMFicn1IuMlicn1IuNFicn1IuNlicn1IuOFicn1IuOlicn1IuPFicn1IuPlJ/8x1s8PF8FfJxehX0sXgV9tmZi4PH4QAAAAAAGZmLg8fhAAAAAAAZmYuDx+EAAAAAAAPH0QAAMTidQTCxf31w8Xd/uDE4nUEwsX99cPF1f7oxOJ1BMLF/fXDxc3+8MTidQTCxf31w8XF/vjE4nUEwsX99cPFPf7AxOJ1BMLF/fXDxTX+yMTidQTCxf31w8Ut/tDE4nUEwsX99cPFJf7YxOJ1BMLF/fXDxR3+4MTidQTCxf31w8UV/ujE4nUEwsX99cPFDf7wxOJ1BMLF/fXDxQX++En/zA+FW////8PF+FfAxfBXyWZmLg8fhAAAAAAADx+AAAAAAGLyfUhQ4WLyfUhQ6WLyfUhQ8WLyfUhQ+WJyfUhQwWJyfUhQyWJyfUhQ0WJyfUhQ2WJyfUhQ4WJyfUhQ6WJyfUhQ8WJyfUhQ+Un/zHWzw8X4V8DF8FfJZmYuDx+EAAAAAABmZi4PH4QAAAAAAGZmLg8fhAAAAAAAZg8fhAAAAAAAxOJ9UOHE4n1Q6cTifVDxxOJ9UPnEYn1QwcRifVDJxGJ9UNHEYn1Q2cRifVDhxGJ9UOnEYn1Q8cRifVD5Sf/Mdb/DxfhXwMXwV8lmZi4PH4QAAAAAAGZmLg8fhAAAAAAAZmYuDx+EAAAAAABmZi4PH4QAAAAAAGYuDx+EAAAAAABi8n5IUuFi8n5IUuli8n5IUvFi8n5IUvlicn5IUsFicn5IUslicn5IUtFicn5IUtlicn5IUuFicn5IUulicn5IUvFicn5IUvlJ/8x1s8M=";

const CODE_ADDRESS = 0x400000, DATA_ADDRESS = 0x10000000, DATA_BYTES = 4096;

/** The whole executable: static, without a library. */
export function ceilingsProgram(): Uint8Array<ArrayBuffer> {
  return writeElf({
    arch: "x86_64",
    entry: CODE_ADDRESS,
    segments: [
      { flags: 5, address: CODE_ADDRESS, contents: { section: ".text" } },
      { flags: 6, address: DATA_ADDRESS, contents: { zeroes: DATA_BYTES } },
    ],
    sections: [{ name: ".text", type: 1, flags: 6, address: CODE_ADDRESS, bytes: Uint8Array.fromBase64(code) }],
    symbols: [],
  });
}

/** What the program reads first: a task, bytes of memory (a multiple of 4096), rounds. */
export function order(task: Task, bytes: number, rounds: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new BigUint64Array([tasks.indexOf(task), bytes, rounds].map(BigInt)).buffer);
}
