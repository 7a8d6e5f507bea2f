import type { Profile } from "../../lib/commands/profile.ts";
import type { Field } from "../../lib/events/event.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { Kind, type StreamSchema } from "../../lib/programs/schema.ts";
import { whoIs } from "../../lib/programs/who.ts";
import { beatLine, hostSchema } from "../../lib/timeline/host.ts";
import { MemoryRecording } from "./memory_recording.ts";
import type { Random } from "./mutations.ts";

interface Shape {
  readonly kind: number;
  readonly name: string;
  readonly fields: readonly Field[];
  readonly probe: Probe;
}

const BASE = 10n ** 15n, PID = 100;
/** Each in its turn in each number of each record. */
const extremes = [0n, -1n, 2n ** 31n, 2n ** 32n - 2n, 2n ** 48n - 1n, 2n ** 53n - 1n, 2n ** 63n - 1024n];
const texts = ["", "a", "m.gguf", "cache_k_l3", "ffn_gate-4294967294", "CUDA0#l_out-9#0", "_ZN2at4_ops3mm4callEv", "_ZN9999999999x", "é".repeat(500)];
/** Lines before and behind an extreme one. */
const AROUND = 10;

/** What decoders know besides; each number of it is extreme in its turn, and as it is here in the end. */
const facts: readonly object[] = [
  { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "MUL_MAT", "MUL_MAT_ID", "FLASH_ATTN_EXT"] },
  { fact: "mapped", pid: PID, files: [{ at: 0, bytes: 4096, offset: 0, dev: 1, inode: 1, file: "m.gguf" }] },
  { fact: "tensors", dev: 1, inode: 1, tensors: [{ name: "blk.0.a.weight", offset: 0 }, { name: "blk.1.a.weight", offset: 64 }] },
  { fact: "opened", pid: PID, files: [{ dev: 1, inode: 1, file: "m.gguf" }] },
  { fact: "code", pid: PID, ranges: [{ at: 0, bytes: 4096, file: "libcuda.so" }], functions: [{ at: 1, bytes: 1, name: "cuMemAlloc_v2" }] },
  { fact: "places", pid: PID, places: [{ at: 1, file: "a.so", name: "f", offset: 1 }] },
  { fact: "names", pid: PID, name: "a", threads: [{ tid: PID, name: "a" }] },
  { fact: "disks", disks: [{ dev: 1, name: "sda", requests: 1 }] },
  { fact: "wallClock", shiftMs: 1 },
];

/**
 * A run of a profile that has each record of each of its probes: with small numbers, one like the other, and in some lines one that is extreme. `misshapen`:
 * rows of maps whose keys have too few numbers, or too many.
 */
export function extremeRecording(
  { name: command, engine, options, probes }: Profile<unknown>,
  random: Random,
): { readonly recording: MemoryRecording; readonly misshapen: number } {
  const shapes = probes.flatMap((probe) =>
    Object.entries(probe.records).map(([record, fields]) => ({ name: `${probe.name}.${record}`, fields, probe }))
  )
    .map((shape, i): Shape => ({ ...shape, kind: Kind.first + i }));
  const maps = probes.flatMap(({ name, maps, sums }) =>
    Object.entries({ ...maps, ...sums }).map(([map, { key }]) => ({ name: `${name}.${map}`, key }))
  );
  const schema: StreamSchema = {
    stream: "all",
    records: {
      [Kind.open]: { name: "window.open", fields: [] },
      [Kind.close]: { name: "window.close", fields: [] },
      ...Object.fromEntries(shapes.map(({ kind, name, fields }) => [kind, { name, fields }])),
    },
    maps: Object.fromEntries(maps.map(({ name }, i) => [`m${i}`, name])),
    disorderNs: 0,
  };
  let now = BASE;
  let misshapen = 0;
  const lines = [JSON.stringify(schema), `${Kind.open} ${now} 0`];
  const tell = ({ kind, fields }: Shape, usual: number, place = -1, extreme = 0n) => {
    now += 1_000_000n;
    const values = fields.map(({ type }, i) => {
      if (type === "text") return hex(random(2) === 0 ? "ffn_gate-3" : texts[random(texts.length)]!);
      if (type === "time") return i === place && extreme >= 0 ? extreme : now - BigInt(random(1_000_000));
      return i === place ? extreme : random(4) === 0 ? 0 : usual;
    });
    lines.push([kind, now, whoIs(PID, random(8) === 0 ? PID + 1 : PID), ...values].join(" "));
  };
  const all = shapes.flatMap((shape) => shape.fields.flatMap((_, place) => extremes.map((extreme) => ({ shape, place, extreme }))));
  for (const { shape, place, extreme } of shuffled(all, random)) {
    const usual = 1 + random(3), { probe } = shape;
    const related = shapes.filter((other) => other.probe === probe || probe.sees?.includes(other.name));
    const some = () => Array.from({ length: AROUND }, () => tell(related[random(related.length)]!, usual));
    some();
    tell(shape, usual, place, extreme);
    some();
    lines.push(`(9, ${now})`);
    for (const isWhole of maps.length > 0 ? [true, false] : []) {
      const map = random(maps.length), { length } = maps[map]!.key;
      const key = Array.from({ length: isWhole ? length : (length + 1 + random(4)) % 5 }, (_, i) => i === 0 ? usual : extreme);
      lines.push(`@m${map}${key.length > 0 ? `[${key.join(", ")}]` : ""}: ${random(2 ** 30)}`);
      if (!isWhole) misshapen++;
    }
  }
  lines.push(`${Kind.close} ${now} 0`, `(9, ${now})`, "");
  const clock = { name: "boottime", base: String(BASE), realtimeOffset: "0" };
  const target = { pid: PID, argv: ["a"], started: true };
  const header = {
    schemaVersion: 1,
    llmprof: "0",
    command,
    options: { ...options, ...engine && { engine } },
    clock,
    target,
    host: {},
    bpftrace: null,
  };
  const known = facts.flatMap(withExtremes).map((fact) => `${Kind.first} ${BASE} 0 ${hex(fact)}`);
  const host = [JSON.stringify(hostSchema), ...known, beatLine(now)];
  const streams = new Map([["host", utf8.encode(host.join("\n"))], ["all", utf8.encode(lines.join("\n"))]]);
  return { recording: new MemoryRecording(JSON.stringify(header), streams), misshapen };
}

function withExtremes(fact: object): string[] {
  const text = JSON.stringify(fact);
  const numbers = [...text.matchAll(/(?<=:)\d+/g)];
  const changed = numbers.flatMap(({ 0: number, index }) =>
    extremes.map((extreme) => text.slice(0, index) + extreme + text.slice(index + number.length))
  );
  return [...changed, text];
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list.map((item) => ({ item, key: random(2 ** 30) })).sort((a, b) => a.key - b.key).map(({ item }) => item);
}

const utf8 = new TextEncoder();

function hex(text: string): string {
  return [...utf8.encode(text), 0].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}
