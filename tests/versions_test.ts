import assert from "node:assert/strict";
import { join } from "node:path";
import { atLeast, type Bpftrace, handsOverMarkers, oldestBpftrace, parseBpftrace, placesThousands } from "../lib/machine/bpftrace.ts";
import { bufferOf, type BufferUnits } from "../lib/machine/buffer.ts";
import { type ChildOptions, plainEnvironment } from "../lib/machine/child.ts";
import { preflight } from "../lib/machine/needs/needs.ts";
import { dialectOf } from "../lib/session/programs.ts";
import { type ProcessKind, Spares } from "../lib/session/spares.ts";
import { fakeSpawn } from "./harness/fake_child.ts";
import { capable, FakeSymbols } from "./harness/fake_machine.ts";
import { top } from "./harness/places.ts";

const folder = join(top, "tests", "fixtures", "bpftrace");

/** What follows from what each version says of itself; README.md beside the texts tells where they come from. */
const versions = {
  "0.16": { version: [0, 16, 0], offsets: false, ringbuf: false, uprobeMulti: false, perCpuLookup: false },
  "0.17": { version: [0, 17, 0], offsets: false, ringbuf: false, uprobeMulti: false, perCpuLookup: false },
  "0.18": { version: [0, 18, 1], offsets: false, ringbuf: false, uprobeMulti: false, perCpuLookup: false },
  "0.19": { version: [0, 19, 1], offsets: true, ringbuf: true, uprobeMulti: false, perCpuLookup: false },
  "0.20": { version: [0, 20, 2], offsets: false, ringbuf: true, uprobeMulti: true, perCpuLookup: false },
  "0.21": { version: [0, 21, 3], offsets: true, ringbuf: true, uprobeMulti: false, perCpuLookup: false },
  "0.22": { version: [0, 22, 1], offsets: true, ringbuf: true, uprobeMulti: true, perCpuLookup: false },
  "0.23": { version: [0, 23, 2], offsets: true, ringbuf: true, uprobeMulti: true, perCpuLookup: true },
  "0.24": { version: [0, 24, 2], offsets: false, ringbuf: true, uprobeMulti: true, perCpuLookup: true },
  "0.25": { version: [0, 25, 0], offsets: true, ringbuf: true, uprobeMulti: true, perCpuLookup: true },
  "0.26": { version: [0, 26, 1], offsets: true, ringbuf: true, uprobeMulti: false, perCpuLookup: true },
  "0.27": { version: [0, 27, 1], offsets: true, ringbuf: true, uprobeMulti: true, perCpuLookup: true },
} as const;

/** What programs are written for, and how bpftrace is told to run them. `raw`: whether it stands at raw tracepoints, also without a list of functions. */
interface Way {
  readonly perCpuBuffers: number;
  readonly walksMaps: boolean;
  readonly readsSums: boolean;
  readonly printsHexadecimal: boolean;
  readonly raw: "never" | "with a list" | "always";
  readonly markers: boolean;
  readonly pages: string;
  readonly keys: string;
  readonly quiet: readonly string[];
}

// Of 16 processors, with 8192 pages asked for: between them they have half of that each, and a map has the rows of that many.
const perCpu: Way = {
  perCpuBuffers: 16,
  walksMaps: false,
  readsSums: false,
  printsHexadecimal: true,
  raw: "never",
  markers: false,
  pages: "4096",
  keys: "131072",
  quiet: ["-q", "--no-warnings"],
};
const shared: Way = { ...perCpu, perCpuBuffers: 0, pages: "8192", keys: "65536" };
const walking: Way = { ...shared, walksMaps: true };
const summing: Way = { ...walking, readsSums: true, raw: "always" };
const warning: Way = { ...summing, raw: "with a list", quiet: ["-q"] };
const ways: Readonly<Record<keyof typeof versions, Way>> = {
  "0.16": { ...perCpu, printsHexadecimal: false },
  "0.17": perCpu,
  "0.18": perCpu,
  "0.19": shared,
  "0.20": shared,
  "0.21": shared,
  "0.22": walking,
  "0.23": summing,
  "0.24": warning,
  "0.25": warning,
  "0.26": warning,
  "0.27": { ...warning, markers: true },
};

/** What a bpftrace says at `--help` that takes a list of functions. */
const takesList = "    --traceable-functions FILE\n";
const machine = { ...capable(undefined, ["syscalls:sys_enter_kill"]), cpus: 16 };

/** What it is started with. */
function started(bpftrace: Bpftrace, kind: ProcessKind, askedPages = 8192, units: BufferUnits = machine): ChildOptions {
  const children: ChildOptions[] = [];
  const spawn = fakeSpawn(({ options }) => children.push(options));
  new Spares({ spawn, symbols: new FakeSymbols() }, bpftrace, askedPages, units).take(kind);
  assert.equal(children.length, 1);
  return children[0]!;
}

for (const [name, { version, ...features }] of Object.entries(versions)) {
  const { raw, markers, pages, keys, quiet, ...written } = ways[name as keyof typeof versions];
  const [first, ...info] = Deno.readTextFileSync(join(folder, `${name}.txt`)).split("\n");
  const parsed = (more = "") => parseBpftrace("/usr/bin/bpftrace", `${first}\n`, info.join("\n") + more, "whole")!;
  /** All of a dialect but what it has of the machine. */
  const dialect = (bpftrace: Bpftrace, kernel = machine.kernel) => {
    const { hasTracepoint: _, hasCounter: __, ...plain } = dialectOf({ ...machine, kernel, bpftrace });
    return plain;
  };
  const plain = { ...written, rawTracepoints: raw === "always", pageBytes: machine.pageBytes, arch: machine.arch };

  Deno.test(`bpftrace ${name}: version, features and dialect follow from what it says of itself`, () => {
    const bpftrace = parsed();
    assert.deepEqual([bpftrace.version, bpftrace.features], [version, { symbols: true, patterns: false, ...features, traceableList: false }]);
    assert.deepEqual(dialect(bpftrace), plain);
    assert.deepEqual(dialect(parsed(takesList)), { ...plain, rawTracepoints: raw !== "never" });
    assert.equal(handsOverMarkers(bpftrace), markers);
    assert.equal(placesThousands(bpftrace), features.uprobeMulti);
    assert.deepEqual(preflight({ ...machine, bpftrace }, { argv: ["llmprof"], variables: {} }), []);
    // A dry run needs no root, and without root no bpftrace tells its features.
    const untold = parseBpftrace("/usr/bin/bpftrace", `${first}\n`, "")!;
    assert.deepEqual(dialect(untold), plain);
    assert.equal(placesThousands(untold), false);
  });

  Deno.test(`bpftrace ${name}: on kernels without loops or the structures of newer ones, programs do without`, () => {
    const listed = parsed(takesList);
    assert.deepEqual(dialect(listed, "5.16.0"), { ...plain, rawTracepoints: false });
    assert.deepEqual(dialect(listed, "5.12.0"), { ...plain, rawTracepoints: false, walksMaps: false });
    assert.deepEqual(dialect(listed, "5.17.0"), dialect(listed));
    // What the kernel cannot look up, or what nobody was told it can.
    for (const said of ["lookup_percpu_elem: no", ""]) {
      const other = parseBpftrace("/usr/bin/bpftrace", `${first}\n`, info.join("\n").replace("lookup_percpu_elem: yes", said))!;
      assert.equal(dialect(other, "5.18.0").readsSums, false);
      assert.equal(dialect(other, "5.19.0").readsSums, written.readsSums);
    }
    assert.equal(dialect(listed, "5.13.0").walksMaps, written.walksMaps);
  });

  Deno.test(`bpftrace ${name}: how it is started: all of its environment and its arguments`, () => {
    const env = {
      ...plainEnvironment,
      BPFTRACE_PERF_RB_PAGES: pages,
      BPFTRACE_MAP_KEYS_MAX: keys,
      BPFTRACE_MAX_MAP_KEYS: keys,
      BPFTRACE_MAX_STRLEN: "128",
    };
    const streams = { stdin: "piped", stdout: "piped", stderr: "piped", parentDeath: true, newSession: true } as const;
    const how = { program: "/usr/bin/bpftrace", ...streams };
    const ends = ["-f", "text", "-"];
    const calm = started(parsed(), { unsafe: false, prompt: false });
    assert.deepEqual(calm, { ...how, env: { ...env, BCC_SYMFS: "/nowhere" }, args: [...quiet, "-B", "full", ...ends] });
    const gate = started(parsed(takesList), { unsafe: true, prompt: true });
    const args = ["--unsafe", "--traceable-functions", "/nowhere/traceable", ...quiet, "-B", "line", ...ends];
    assert.deepEqual(gate, { ...calm, args });
    // One that finds no symbol table is given none.
    const blind = parseBpftrace("/usr/bin/bpftrace", `${first}\n`, info.join("\n"))!;
    assert.deepEqual(started(blind, { unsafe: false, prompt: false }), { ...calm, env });
  });

  Deno.test(`bpftrace ${name}: its buffer has as many bytes as llmprof takes it to have, and a size that the kernel takes`, () => {
    const bpftrace = parsed(), isRing = written.perCpuBuffers === 0;
    for (const pageBytes of [4096, 16_384, 65_536]) {
      for (const [askedPages, possibleCpus, mebibytes] of [[4096, 2, 16], [8, 12, null], [8, 96, null], [1, 1, null]] as const) {
        const units = { cpus: 2, possibleCpus, pageBytes };
        const { env } = started(bpftrace, { unsafe: false, prompt: false }, askedPages, units);
        const pages = Number(env!.BPFTRACE_PERF_RB_PAGES);
        // As its source reckons: codegen_llvm.cpp (0.19: map.cpp) multiplies by 4096 up to 0.24; from 0.25 on bpftrace.cpp takes a page for each processor
        // at least, and pages are the machine's, as they are of the buffers before 0.19.
        const bytes = atLeast(version, 0, 25) ? Math.max(pages, possibleCpus) * pageBytes : pages * (isRing ? 4096 : pageBytes);
        assert.equal(bufferOf(bpftrace, askedPages, units).bytes, bytes);
        assert.ok(bytes >= pageBytes && Number.isInteger(Math.log2(bytes)), `${bytes} bytes`);
        if (mebibytes !== null) assert.equal(bytes, mebibytes << 20);
      }
    }
    const few = { cpus: 12, possibleCpus: 12, pageBytes: 65_536 };
    const expected = !isRing ? ["1", 64] : atLeast(version, 0, 25) ? ["16", 1024] : ["16", 64];
    const { env } = started(bpftrace, { unsafe: false, prompt: false }, 8, few);
    assert.deepEqual([env!.BPFTRACE_PERF_RB_PAGES, bufferOf(bpftrace, 8, few).bytes / 1024], expected);
  });
}

Deno.test("bpftrace: there is a text of every version from the oldest that works on", () => {
  const texts = [...Deno.readDirSync(folder)].map(({ name }) => /^(0\.\d+)\.txt$/.exec(name)?.[1]).filter((name) => name !== undefined).sort();
  assert.deepEqual(texts, Object.keys(versions).sort());
  assert.equal(texts[0], oldestBpftrace.join("."));
});
