import type { Decoder, Event, Field } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { Args, SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { INODES } from "../../lib/machine/inode.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { isLibrary } from "../../lib/target/library_name.ts";
import template from "./access.bt" with { type: "text" };
import { FileNames, namingFacts } from "./names.ts";

const unreturned: readonly Field[] = [
  { name: "thread", type: "int", unit: "subject thread" },
  { name: "began", type: "time" },
  { name: "dev", type: "int" },
  { name: "inode", type: "int" },
];

/** Opens, reads and mappings of regular files. */
export const access: Probe = {
  name: "files/access",
  summary: "regular files of the target: opened, read, mapped",
  template,
  // OVERLAYFS_SUPER_MAGIC
  params: { inodes: { type: "int", value: INODES }, overlay: { type: "int", value: 0x794c7630 } },
  tracepoints: ["syscalls:sys_exit_openat", "syscalls:sys_exit_read", "syscalls:sys_exit_mmap"],
  records: {
    open: [
      { name: "began", type: "time" },
      { name: "fd", type: "int" },
      { name: "dev", type: "int" },
      { name: "inode", type: "int" },
      { name: "size", type: "int", unit: "bytes" },
      { name: "name", type: "text" },
    ],
    // Where the file really is, which the line before has opened.
    below: [
      { name: "dev", type: "int" },
      { name: "inode", type: "int" },
      { name: "opened dev", type: "int" },
      { name: "opened inode", type: "int" },
    ],
    read: [
      { name: "began", type: "time" },
      { name: "dev", type: "int" },
      { name: "inode", type: "int" },
      { name: "bytes", type: "int", unit: "bytes" },
    ],
    map: [
      { name: "began", type: "time" },
      { name: "address", type: "int", unit: "address" },
      { name: "length", type: "int", unit: "bytes" },
      { name: "prot", type: "int" },
      { name: "offset", type: "int", unit: "bytes" },
      { name: "dev", type: "int" },
      { name: "inode", type: "int" },
      { name: "name", type: "text" },
    ],
    anonymous: [
      { name: "began", type: "time" },
      { name: "address", type: "int", unit: "address" },
      { name: "length", type: "int", unit: "bytes" },
    ],
    move: [
      { name: "from", type: "int", unit: "address" },
      { name: "length", type: "int", unit: "bytes" },
      { name: "to", type: "int", unit: "address" },
      { name: "new length", type: "int", unit: "bytes" },
    ],
    unmap: [{ name: "address", type: "int", unit: "address" }, { name: "length", type: "int", unit: "bytes" }],
    // It had not returned when the window was shut.
    reading: unreturned,
    mapping: [...unreturned, { name: "length", type: "int", unit: "bytes" }],
  },
  atClose: `for ($each : @reading) { EMIT(reading, $each.1.3, $each.1.0, $each.1.1, $each.1.2); }
    for ($each : @mapping) { EMIT(mapping, $each.1.3, $each.1.0, $each.1.1, $each.1.2, $each.1.4); }`,
  facts: namingFacts,
  decoder: (tracks) => new AccessDecoder(tracks),
};

const PROT_EXEC = 4;

class AccessDecoder implements Decoder {
  readonly #names = new FileNames();
  /** Thread and file → when it was last opened there and has not been mapped since. */
  readonly #opened = new Map<string, Ns>();

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact): void {
    this.#names.fact(fact);
  }

  event(event: Event, out: SpanSink): void {
    switch (event.record) {
      case "files/access.open": {
        const [began, , dev, inode, bytes, file] = event.values as [Ns, number, number, number, number, string];
        this.#names.learn(dev, inode, file);
        if (isLibrary(file)) this.#opened.set(`${event.tid}:${dev}:${inode}`, began);
        return this.#slice(event, began, `open ${file}`, "file.open", { file, dev, inode, bytes }, out);
      }
      case "files/access.below":
        return void this.#names.see(event);
      case "files/access.read": {
        const [began, dev, inode, bytes] = event.values as [Ns, number, number, number];
        const file = this.#names.of(dev, inode);
        return this.#slice(event, began, `read ${file}`, "file.read", { file, dev, inode, bytes }, out);
      }
      case "files/access.reading":
      case "files/access.mapping": {
        const [, began, dev, inode, bytes = 0] = event.values as [number, Ns, number, number, number?];
        const file = this.#names.of(dev, inode);
        const [call, category] = event.record === "files/access.reading" ? ["read", "file.read"] : ["mmap", "file.map"];
        return this.#slice(event, began, `${call} ${file}`, category, { file, dev, inode, bytes }, out, true);
      }
      case "files/access.map":
        return this.#map(event, out);
      case "files/access.anonymous": {
        const [began, address, bytes] = event.values as [Ns, number, number];
        return this.#slice(event, began, "mmap", "memory.map", { bytes, address }, out);
      }
    }
  }

  /** The dynamic linker maps a library piece by piece: one slice each, the first from the opening on. */
  #map(event: Event, out: SpanSink): void {
    const [began, address, bytes, prot, , dev, inode, file] = event.values as [Ns, number, number, number, number, number, number, string];
    this.#names.learn(dev, inode, file);
    if (!isLibrary(file) && !(prot & PROT_EXEC)) {
      return this.#slice(event, began, `mmap ${file}`, "file.map", { file, dev, inode, bytes, address }, out);
    }
    const key = `${event.tid}:${dev}:${inode}`;
    this.#slice(event, this.#opened.get(key) ?? began, file, "library.load", { file, dev, inode, bytes }, out);
    this.#opened.delete(key);
  }

  #slice(event: Event, start: Ns, name: string, category: string, args: Args, out: SpanSink, open = false): void {
    const track = this.tracks.thread(event.pid, event.tid);
    out({ type: "slice", track, name, category, start, end: event.at, args, ...open && { open } });
  }

  end(): void {}
}
