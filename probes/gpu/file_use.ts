import type { Event } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import { lastPart } from "../../lib/events/text.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";

/** What is asked of a GPU's device file, by whomever. */
export class FileUse {
  readonly #devices = new Map<number, string>();
  /** By process: what it calls itself. */
  readonly #names = new Map<number, string>();

  constructor(readonly tracks: Tracks) {}

  event({ record, at, pid, tid, values }: Event, out: SpanSink): void {
    const track = this.tracks.thread(pid, tid), what = record.slice("gpu/files.".length);
    switch (what) {
      case "device":
        return void this.#devices.set(values[0] as number, values[1] as string);
      case "process": {
        const [mine, name] = values as [number, string];
        this.#names.set(pid, name);
        if (!mine) out({ type: "name", track: this.tracks.process(pid), name, at });
        return;
      }
      case "open": {
        const [began, returned, mine, path] = values as [Ns, number, number, string];
        const device = lastPart(path), errno = returned < 0 ? -returned : 0;
        const file = { ...this.#of(pid, device, mine), what: "open", errno } as const;
        const args = { path, ...errno > 0 && { errno } };
        return out({ type: "slice", track, name: `open ${device}`, category: "gpu.file", start: began, end: at, args, file });
      }
      case "ioctl":
      case "map": {
        const [began, id, asked, returned, mine] = values as [Ns, number, number, number, number];
        const device = this.#name(id), errno = returned < 0 ? -returned : 0;
        const command = what === "ioctl" && { command: commandOf(asked) };
        const file = { ...this.#of(pid, device, mine), what, errno, ...command } as const;
        const args = { device, ...(command || { bytes: asked }), ...errno > 0 && { errno } };
        return out({ type: "slice", track, name: `${what} ${device}`, category: "gpu.file", start: began, end: at, args, file });
      }
      case "close": {
        const [id, mine] = values as [number, number];
        const device = this.#name(id), file = { ...this.#of(pid, device, mine), what: "close", errno: 0 } as const;
        return out({ type: "instant", track, name: `close ${device}`, category: "gpu.file", at, args: { device }, file });
      }
    }
  }

  #of(pid: number, device: string, mine: number) {
    return { device, pid, name: this.#names.get(pid) ?? "", isTarget: mine !== 0 };
  }

  #name(id: number): string {
    return this.#devices.get(id) ?? "GPU";
  }
}

/** The kernel's encoding: two bits of direction, 14 of size, a letter of the driver, a number. */
function commandOf(command: number): string {
  const letter = command >> 8 & 255, number = command & 255;
  return letter > 32 && letter < 127 ? `${String.fromCharCode(letter)} 0x${number.toString(16)}` : `0x${(command >>> 0).toString(16)}`;
}
