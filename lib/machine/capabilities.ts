import { type Answer, type Bpftrace, findBpftrace, probeBpftrace } from "./bpftrace.ts";
import { type BufferUnits, readBufferUnits } from "./buffer.ts";
import { type CacheKey, cacheKey, type CachePlace } from "./cache.ts";
import { systemPath } from "./child.ts";
import type { KernelFiles } from "./files.ts";
import { type Knowing, knownBpftrace } from "./known_bpftrace.ts";
import { hiding, type Mount, mountOf, parseMounts } from "./mounts.ts";

/** What this machine can do and what it is, read once. */
export interface Capabilities extends BufferUnits {
  readonly root: boolean;
  /** Effective capabilities of llmprof, bit N for capability N. */
  readonly effectiveCaps: bigint;
  readonly sysAdmin: boolean;
  /** Nothing that llmprof starts can become more than llmprof is: `sudo` does not work. */
  readonly noNewPrivileges: boolean;
  /** A filter decides which system calls llmprof and its children may make. */
  readonly seccomp: boolean;
  /** Kernel release: `6.18.44`. */
  readonly kernel: string;
  readonly arch: "x86_64" | "aarch64";
  readonly cpuModel: string;
  readonly memoryBytes: number;
  /** Frequency governor of the first CPU; null where the machine has none (most virtual machines). */
  readonly governor: string | null;
  /** Where tracefs is mounted, or null. */
  readonly tracefs: string | null;
  /** The kernel describes its types. */
  readonly btf: boolean;
  /** The mount that hides where the kernel describes its types, or null. */
  readonly hiddenBtf: string | null;
  /** `none`, `integrity`, `confidentiality`; null where the kernel does not say. */
  readonly lockdown: string | null;
  /** The kernel is one for real time (PREEMPT_RT): who waits for a lock sleeps. */
  readonly realtime: boolean;
  /** False in a container with PIDs of its own: probes see other numbers than llmprof. */
  readonly pidNamespaceIsInit: boolean;
  /** False where root is one of a container's own, who may not trace: a rootless container, a toolbox. */
  readonly userNamespaceIsInit: boolean;
  /** Hardware performance counters, by bpftrace's names for them; empty where there is none. */
  readonly counters: ReadonlySet<string>;
  /** Distribution by `ID` and `ID_LIKE` of os-release, nearest first: `ubuntu`, `debian`. */
  readonly distribution: readonly string[];
  /** Its `VERSION_ID` as a number, such as 22.04; null where it is none. */
  readonly release: number | null;
  readonly bpftrace: Bpftrace | null;
  /** The file that was taken for a bpftrace; null when there was none to take. */
  readonly bpftracePath: string | null;
  /** For what has to be found out once about that file in this boot; null without a file, or where the kernel tells no boot. */
  readonly cacheKey: CacheKey | null;
  /** Every tracepoint as `category:name`; empty when tracefs cannot be read. */
  readonly tracepoints: ReadonlySet<string>;
  /** Of the fields that not every kernel's tracepoints have those that are here, as `category:name.field`. */
  readonly tracepointFields: ReadonlySet<string>;
  /** Places of mounts that hide some of them. */
  readonly hidingTracepoints: readonly string[];
}

export interface CapabilityOptions {
  /** Process id of llmprof. */
  readonly pid: number;
  /** `--bpftrace PATH`. */
  readonly bpftrace?: string;
  /** `PATH` of llmprof, to find bpftrace on before the usual folders are looked into. */
  readonly path?: string;
  /** {@link probeBpftrace} unless a test says otherwise. */
  readonly probe?: (path: string) => Promise<Answer | null>;
  /** Whether what bpftrace can do is remembered from an earlier run; absent: neither read nor kept. */
  readonly remember?: Knowing["remember"];
  /** Is told of it as soon as it is known, long before everything else is. */
  readonly onBpftrace?: (bpftrace: Bpftrace) => void;
  /** Is told what a buffer's size depends on while that is being read. */
  readonly onUnits?: (units: Promise<BufferUnits>) => void;
  /** Where it is kept, unless it is the system's place. */
  readonly place?: CachePlace;
}

const capSysAdmin = 21n;
/** `PROC_PID_INIT_INO` of the kernel's include/linux/proc_ns.h: the same on every machine. */
const initialPidNamespace = "pid:[4026531836]";

/** Whether a set of the kernel's capabilities has one, by its number. */
export function holds(capabilities: bigint, number: bigint): boolean {
  return (capabilities >> number & 1n) === 1n;
}

/** About 0.2 s, nearly all of it bpftrace where that is not remembered; what cannot be read is reported as absent. */
export async function readCapabilities(files: KernelFiles, options: CapabilityOptions): Promise<Capabilities> {
  // First: with it a bpftrace is known, which is what takes longest to load.
  const first = files.texts(["/proc/sys/kernel/random/boot_id", `/proc/${options.pid}/status`]);
  const rights = first.then(([, status]) => rightsOf(status ?? ""));
  const known = readBpftrace(files, options, first.then(([id]) => id!), rights);
  const mountTable = files.text("/proc/self/mounts").then((text) => parseMounts(text ?? ""));
  const tracing = readTracefs(files, mountTable);
  const reading = files.texts([
    "/proc/sys/kernel/osrelease",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "/sys/kernel/security/lockdown",
    "/etc/os-release",
    "/proc/self/uid_map",
    "/sys/kernel/realtime",
  ]);
  const buffers = readBufferUnits(files);
  options.onUnits?.(buffers);
  const [own, texts, units, mounts, trace, btf, namespace, counters, bpftrace] = await Promise.all([
    rights,
    reading,
    buffers,
    mountTable,
    tracing,
    files.exists("/sys/kernel/btf/vmlinux"),
    files.link("/proc/self/ns/pid"),
    readCounters(files),
    known,
  ]);
  const [release, cpuinfo, meminfo, governor, lockdown, osRelease, uidMap, realtime] = texts.map((text) => text ?? "");
  return {
    ...own,
    ...units,
    // All users of the machine, each by its own number.
    userNamespaceIsInit: uidMap === "" || /^\s*0\s+0\s+4294967295$/m.test(uidMap!),
    kernel: release!.trim() || "unknown",
    arch: Deno.build.arch,
    cpuModel: /^(?:model name|Model)\s*:\s*(.+)$/m.exec(cpuinfo!)?.[1]?.trim() ?? "unknown",
    memoryBytes: Number(/^MemTotal:\s*(\d+) kB$/m.exec(meminfo!)?.[1] ?? 0) * 1024,
    governor: governor!.trim() || null,
    btf,
    hiddenBtf: btf ? null : hiding("/sys/kernel/btf/vmlinux", mounts),
    lockdown: /\[(\w+)\]/.exec(lockdown!)?.[1] ?? null,
    realtime: realtime!.trim() === "1",
    pidNamespaceIsInit: namespace === initialPidNamespace,
    counters,
    distribution: distributionOf(osRelease!),
    release: Number(osField(osRelease!, "VERSION_ID")) || null,
    ...bpftrace,
    ...trace,
  };
}

type Rights = Pick<Capabilities, "root" | "effectiveCaps" | "sysAdmin" | "noNewPrivileges" | "seccomp">;

/** Of a process, by its `/proc/PID/status`. */
function rightsOf(status: string): Rights {
  const effectiveCaps = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  return {
    root: /^Uid:\s*\d+\s+0\s/m.test(status),
    effectiveCaps,
    sysAdmin: holds(effectiveCaps, capSysAdmin),
    noNewPrivileges: /^NoNewPrivs:\s*1$/m.test(status),
    seccomp: /^Seccomp:\s*2$/m.test(status),
  };
}

async function readBpftrace(
  files: KernelFiles,
  { bpftrace, path: searched, remember, place, probe = probeBpftrace, onBpftrace }: CapabilityOptions,
  running: Promise<string | null>,
  rights: Promise<Rights>,
): Promise<Pick<Capabilities, "bpftrace" | "bpftracePath" | "cacheKey">> {
  // A name alone is looked for as a shell does.
  const isPath = bpftrace?.includes("/");
  const path = isPath ? bpftrace! : await findBpftrace(files, searched ? `${searched}:${systemPath}` : systemPath, bpftrace) ?? bpftrace ?? null;
  if (path === null) return { bpftracePath: null, cacheKey: null, bpftrace: null };
  const boot = await running;
  const key = boot === null ? null : cacheKey(path, boot);
  const mayTry = rights.then(({ sysAdmin }) => sysAdmin);
  const found = key && remember ? await knownBpftrace(path, { key, remember, mayTry, place }, probe) : (await probe(path))?.bpftrace ?? null;
  if (found) onBpftrace?.(found);
  return { bpftracePath: path, cacheKey: key, bpftrace: found };
}

/**
 * Fields that not every kernel's tracepoints have. Some of 6.18 and 6.19 do not say whose name it is, but who gave it alone; those without folios have no
 * size of one.
 */
const FIELDS = { "task/task_rename": "pid", "filemap/mm_filemap_add_to_page_cache": "order" } as const;

/**
 * The mount table says where tracefs is even to a user who may not look into it; one `find` (6 to 14 ms for 2300) says what it offers, and looks
 * into the usual place before the table is known. Only the two places where bpftrace looks count, and only if nothing else was mounted
 * over them or what they lie in. The kernel mounts the one below debugfs when somebody looks into it, and until then the table has none there.
 */
async function readTracefs(
  files: KernelFiles,
  mountTable: Promise<Mount[]>,
): Promise<Pick<Capabilities, "tracefs" | "tracepoints" | "tracepointFields" | "hidingTracepoints">> {
  const [usual, other] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"] as const;
  const eventsOf = async (tracefs: string) => {
    const formats = Object.keys(FIELDS).map((name) => `${tracefs}/events/${name}/format`);
    const [names, texts] = await Promise.all([files.grandchildren(`${tracefs}/events`), files.texts(formats)]);
    const has = ([, field]: readonly [string, string], i: number) => new RegExp(`\\s${field};`).test(texts[i] ?? "");
    return { names, fields: Object.entries(FIELDS).filter(has).map((found) => found.join(".")) };
  };
  const [mounts, listed] = await Promise.all([mountTable, eventsOf(usual)]);
  const mounted = [usual, other].find((path) => {
    const top = mountOf(path, mounts);
    return top?.place === path && top.type === "tracefs";
  }) ?? null;
  const comes = mounted === null && mountOf(other, mounts)?.type === "debugfs";
  const { names, fields } = mounted === usual ? listed : mounted === other || comes ? await eventsOf(other) : { names: [], fields: [] };
  const tracefs = comes && names.length > 0 ? other : mounted;
  const hidingTracepoints = mounts.map(({ place }) => place).filter((place) => tracefs !== null && place.startsWith(`${tracefs}/events`));
  const colons = (all: readonly string[]) => new Set(all.map((name) => name.replace("/", ":")));
  return { tracefs, tracepoints: colons(names), tracepointFields: colons(fields), hidingTracepoints };
}

/**
 * What a kernel calls the counters of a processor, by bpftrace's names. Arm's own names of its cache are of the first level, and are left out: what is
 * said of misses is said of the last.
 */
const COUNTERS: Readonly<Record<string, readonly string[]>> = {
  "cpu-cycles": ["cpu-cycles", "cpu_cycles"],
  "instructions": ["instructions", "inst_retired"],
  "cache-references": ["cache-references"],
  "cache-misses": ["cache-misses"],
  "branch-misses": ["branch-misses", "br_mis_pred"],
  "backend-stalls": ["stalled-cycles-backend", "stall_backend"],
};

/** Intel's hybrid processors have `cpu_core` and `cpu_atom`, Arm has `armv8_pmuv3_0`. A virtual machine has none, as a rule. */
async function readCounters(files: KernelFiles): Promise<ReadonlySet<string>> {
  const devices = "/sys/bus/event_source/devices";
  const device = (await files.list(devices)).find((name) => /^(cpu$|cpu_core$|armv\d+)/.test(name));
  const events = device === undefined ? [] : await files.list(`${devices}/${device}/events`);
  return new Set(Object.entries(COUNTERS).filter(([, names]) => names.some((name) => events.includes(name))).map(([name]) => name));
}

/** `ID` and `ID_LIKE` of os-release, nearest first. */
export function distributionOf(osRelease: string): string[] {
  return ["ID", "ID_LIKE"].flatMap((name) => osField(osRelease, name).split(" ")).filter((word) => word !== "");
}

function osField(osRelease: string, name: string): string {
  return new RegExp(`^${name}=["']?([^"'\n]*)`, "m").exec(osRelease)?.[1] ?? "";
}
