/** Device files of GPUs, by nodes of a harmless driver in a `/dev` of the test's own. */
import assert from "node:assert/strict";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import type { GpuResult } from "../../../lib/analysis/gpu_schema.ts";
import { mustRun, start } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { type Temporary, temporary } from "../../harness/temporary.ts";
import { askedOf } from "../../independent/ioctls.ts";
import { built } from "../../setup/programs.ts";
import { ranFor } from "../awake.ts";
import { linesOf } from "../gpu_run.ts";
import { compareSeen } from "../hidden_hits.ts";
import { lastOfThree } from "../last_of_three.ts";
import { outputPath, startLlmprof, summaryOf } from "../live_run.ts";

const devices = join(built.gpu.protected, "devices");
/** /dev/net/tun */
const TUN = ["c", "10", "200"];

/** /dev/zero, which can be mapped; and a driver that is not there. */
const ZERO = ["c", "1", "5"], NONE = ["c", "240", "77"];

/** A folder with these nodes, on a file system that allows them. */
async function nodes(folder: Temporary, names: readonly string[], others: Readonly<Record<string, readonly string[]>> = {}): Promise<string> {
  const path = folder.file("dev");
  const all = { null: ["c", "1", "3"], urandom: ["c", "1", "9"], ...Object.fromEntries(names.map((name) => [name, TUN])), ...others };
  for (const [name, what] of Object.entries(all)) {
    Deno.mkdirSync(dirname(join(path, name)), { recursive: true });
    await mustRun(["mknod", "-m", "666", join(path, name), ...what]);
  }
  return path;
}

/** The program where that folder is /dev. */
function inside(dev: string, argv: readonly string[]): string[] {
  return ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /dev && exec "$@"', dev, ...argv];
}

const OPENS = 101, FAILS = 29, IOCTLS = 307, PROCESSES = 3;

sampledTest(
  1,
  "gpu: openings, failing and not, ioctls and closes of device files by three processes, as strace counts them",
  { strace: true },
  ({ path }) =>
    compareSeen(async () => {
      using folder = temporary(), memory = temporary("/dev/shm");
      const dev = await nodes(memory, ["nvidia0", "nvidiactl"]);
      const counts = folder.file("strace.txt");
      const watched = ["nvidia0", "nvidiactl", "nvidia9"].flatMap((name) => ["-P", `/dev/${name}`]);
      const use = [devices, "use", "/dev", ...[OPENS, FAILS, IOCTLS].map(String)];
      const target = { argv: inside(dev, ["strace", "-f", "-c", "-o", counts, ...watched, ...use]) };
      await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target });
      const { result, events } = summaryOf("gpu", await llmprof.finished());
      assert.equal(events.lost, events.skipped);
      if (events.skipped! > 0) return false;
      const table = new Map(
        Deno.readTextFileSync(counts).split("\n").flatMap((line) => {
          // % time, seconds, usecs/call, calls, errors (or nothing), syscall
          const found = /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:(\d+)\s+)?(\w+)$/.exec(line);
          return found ? [[found[3]!, { calls: Number(found[1]), errors: Number(found[2] ?? 0) }] as const] : [];
        }),
      );
      const users = result.files.flatMap(({ users }) => users);
      const sum = (of: "opens" | "failedOpens" | "ioctls" | "failedIoctls" | "closes") => users.reduce((all, user) => all + user[of], 0);
      assert.deepEqual(table.get("openat"), { calls: sum("opens") + sum("failedOpens"), errors: sum("failedOpens") });
      assert.deepEqual(table.get("ioctl"), { calls: sum("ioctls"), errors: sum("failedIoctls") });
      assert.deepEqual(table.get("close"), { calls: sum("closes"), errors: 0 });
      assert.deepEqual(
        [sum("opens"), sum("failedOpens"), sum("ioctls"), sum("closes")],
        [PROCESSES * (OPENS + 1), PROCESSES * FAILS, PROCESSES * IOCTLS, PROCESSES * (OPENS + 1)],
      );
      const zero = result.files.find(({ device }) => device === "nvidia0")!;
      assert.deepEqual(
        zero.users.map(({ opens, closes, isTarget, name }) => [opens, closes, isTarget, name]),
        Array(PROCESSES).fill([OPENS, OPENS, true, "devices"]),
      );
      const missing = result.files.find(({ device }) => device === "nvidia9")!;
      assert.deepEqual(missing.failures.map(({ errno, times, pids }) => [errno, times, pids.length]), [[2, PROCESSES * FAILS, PROCESSES]]);
      assert.equal(result.contention, null, "nobody else");
      return true;
    }),
);

const TIMES = 13;

sampledTest(
  0,
  "gpu: which commands device files are asked, how much of them is mapped, and why openings and mappings fail, as strace tells it",
  { strace: true },
  async ({ path }) => {
    using folder = temporary(), memory = temporary("/dev/shm");
    const dev = await nodes(memory, ["nvidia1"], { "dri/renderD128": ZERO, kfd: ZERO, nvidia5: NONE });
    const lines = folder.file("strace.txt");
    const watched = ["dri/renderD128", "dri/card0", "kfd", "nvidia1", "nvidia5"].flatMap((name) => ["-P", `/dev/${name}`]);
    const strace = ["strace", "-f", "-y", "-X", "raw", "-e", "trace=openat,ioctl,mmap", ...watched, "-o", lines];
    const target = { argv: inside(dev, [...strace, devices, "each", "/dev", String(TIMES)]) };
    await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target, formats: ["jsonl"] });
    const { result, events } = summaryOf("gpu", await llmprof.finished());
    assert.equal(events.lost, events.skipped);
    const maps = linesOf(outputPath(folder, "jsonl")).map((line) => JSON.parse(line))
      .filter(({ category, name, args }) => category === "gpu.file" && name.startsWith("map ") && args.errno === undefined)
      .map(({ args: { device, bytes } }) => `${device} map ${bytes}`);
    const told = result.files.flatMap(({ device, commands, failures }) => [
      ...commands.map(({ command, calls }) => `${device} ioctl ${command}: ${calls}`),
      ...failures.map(({ what, errno, times }) => `${device} ${what} fails ${errno}: ${times}`),
    ]);
    const asked = linesOf(lines).flatMap(straced);
    assert.deepEqual([...told, ...counted(maps)].sort(), counted(asked));
    assert.equal(asked.length, 14 * TIMES + 14);
    const users = result.files.flatMap(({ users }) => users), sum = (of: "maps" | "failedMaps") => users.reduce((all, user) => all + user[of], 0);
    assert.deepEqual([sum("maps"), sum("failedMaps")], [maps.length, 3 * TIMES + 1]);
  },
);

const ROUNDS = 13, CROWD = 11;

sampledTest(1, "gpu: how often device files are asked for which command, and how long that takes, as another program says", {}, async ({ path }) => {
  using folder = temporary(), memory = temporary("/dev/shm");
  const dev = await nodes(memory, ["nvidia0", "nvidiactl"]);
  const target = { argv: inside(dev, [devices, "crowd", "/dev", String(ROUNDS)]) };
  const { asked, value: ended } = await askedOf(path, "devices", async () => {
    await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target });
    return await llmprof.finished();
  });
  const { result, events } = summaryOf("gpu", ended);
  assert.equal(events.lost, events.skipped);
  const told = new Map(result.files.flatMap(({ device, commands }) => commands.map((row) => [`${device} ${row.command}`, row])));
  const judged = asked.filter(({ path }) => path.startsWith("/dev/nvidia"))
    .map(({ path, command, calls, ns }) => ({ what: `${path.slice("/dev/".length)} ${shortCommand(command)}`, calls, ns }));
  assert.deepEqual([...told].map(([what, { calls }]) => `${what}: ${calls}`).sort(), judged.map(({ what, calls }) => `${what}: ${calls}`).sort());
  // A network device is made, its queue let go and taken.
  assert.deepEqual(judged.map(({ calls }) => calls / CROWD / ROUNDS).sort(), [1, 1, 2, 2]);
  for (const { what, ns } of judged) {
    const ours = told.get(what)!.ns;
    assert.ok(Math.abs(ours / ns - 1) < 0.03, `${what}: ${ours / 1e6} ms, ${ns / 1e6} by another program`);
  }
});

/** As llmprof says a command. */
function shortCommand(command: number): string {
  return `${String.fromCharCode(command >> 8 & 255)} 0x${(command & 255).toString(16)}`;
}

/** `17 ioctl(3</dev/kfd>, 0x80084b01, NULL) = …` → `kfd ioctl K 0x1`, and so on; of openings, those that fail. */
function straced(line: string): string[] {
  const [, opened, error] = /openat\(.*"\/dev\/(?:.*\/)?(.*)".* = -1 (E\w+)/.exec(line) ?? [];
  if (opened !== undefined) return [`${opened} open fails ${errnoOf(error!)}`];
  const [, asked, command] = /ioctl\(\d+<\/dev\/(?:.*\/)?(.*?)>, (0x\w+)/.exec(line) ?? [];
  if (asked !== undefined) return [`${asked} ioctl ${shortCommand(Number(command))}`];
  const [, bytes, mapped, why] = /mmap\(\w+, (\d+), .*<\/dev\/(?:.*\/)?(.*?)>.* = (?:-1 (E\w+))?/.exec(line) ?? [];
  if (mapped === undefined) return [];
  return [why === undefined ? `${mapped} map ${bytes}` : `${mapped} map fails ${errnoOf(why)}`];
}

function errnoOf(name: string): number {
  return constants.errno[name as keyof typeof constants.errno];
}

function counted(all: readonly string[]): string[] {
  return [...Map.groupBy(all, (what) => what)].map(([what, times]) => `${what}: ${times.length}`).sort();
}

const SECONDS = 4;

for (
  const [device, what] of [
    ["nvidia0", "another process that holds its device is named, and that the target waits for it"],
    ["nvidia1", "a target that is alone at its device waits for nobody, though another process holds the next one"],
  ] as const
) {
  sampledTest(1, `gpu: ${what}`, {}, async ({ path }) => {
    using memory = temporary("/dev/shm");
    const dev = await nodes(memory, ["nvidia0", "nvidia1"]);
    const half = (SECONDS / 2) * 1000;
    // What it knows as nvidia0 is that device.
    const there = ["unshare", "-m", "sh", "-c", 'mount --bind "$1" "$0/nvidia0" && shift && exec "$@"', dev, join(dev, device)];
    const shared = async () => {
      using folder = temporary();
      const go = folder.file("go");
      await using other = start([...there, devices, "hold", dev, go, String(half)]);
      const target = { argv: inside(dev, [devices, "ask", "/dev", String(4 * half)]) };
      await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target });
      await llmprof.saw("Tracing");
      // Alone for a quarter of its time, with the other one for as long, and alone again.
      await ranFor(half);
      Deno.writeTextFileSync(go, "");
      const ended = await llmprof.finished();
      const { result } = summaryOf("gpu", ended);
      const { times, inside: ns } = JSON.parse(ended.stderr.split("\n").find((line) => line.startsWith('{"times"'))!);
      const usersOf = (name: string) => result.files.find(({ device }) => device === name)!.users;
      const user = usersOf("nvidia0").find(({ isTarget }) => isTarget)!;
      assert.deepEqual([user.ioctls, user.name], [times, "devices"]);
      // What it takes to see a call is part of its own time.
      assert.ok(user.ioctlNs < ns && ns - user.ioctlNs < 0.05 * ns + 10e3 * times, `${user.ioctlNs / 1e6} ms in them, ${ns / 1e6} by its own clock`);
      const { contention } = result, holder = { pid: other.pid, name: "devices" };
      assert.deepEqual(usersOf(device).filter(({ isTarget }) => !isTarget).map(({ pid, name }) => ({ pid, name })), [holder]);
      if (device !== "nvidia0") assert.equal(contention, null);
      else assert.deepEqual(contention!.others, [holder]);
      return contention;
    };
    const isSeen = (contention: GpuResult["contention"]) => device !== "nvidia0" || (contention!.waits && contention!.slower! > 1.5);
    const last = await lastOfThree(shared, isSeen);
    assert.ok(isSeen(last), JSON.stringify(last));
  });
}

/** A stand-in for nvidia-smi, which says two lines for each second. */
const SMI = `#!/bin/sh
case "$*" in *--loop=1*) ;; *) exit 1 ;; esac
while echo "0, 80, 40, 1024, 8192, 1500, 200.5, 60, 0x0000000000000004" && echo "1, 20, [N/A], 2048, 8192, 900, [N/A], 40, 0x0000000000000001"; do sleep 1; done
`;

sampledTest(0, "gpu: what GPUs say of themselves each second, by the tool that is there", {}, async ({ path }) => {
  using folder = temporary();
  Deno.mkdirSync(folder.file("bin"));
  Deno.writeTextFileSync(join(folder.file("bin"), "nvidia-smi"), SMI, { mode: 0o755 });
  const env = { PATH: `${folder.file("bin")}:${Deno.env.get("PATH")}` };
  await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target: { argv: ["sleep", "3"] }, env });
  const { result } = summaryOf("gpu", await llmprof.finished());
  assert.deepEqual(
    result.devices.map(({ readings, throttled, ...device }) => ({
      ...device,
      enough: readings >= 2,
      throttled: throttled.map(({ reason }) => reason),
    })),
    [
      {
        gpu: 0,
        busyPercent: 80,
        memoryBusyPercent: 40,
        memoryUsedBytes: 2 ** 30,
        clockMhz: 1500,
        powerWatts: 200.5,
        temperatureCelsius: 60,
        enough: true,
        throttled: ["power limit"],
      },
      {
        gpu: 1,
        busyPercent: 20,
        memoryBusyPercent: null,
        memoryUsedBytes: 2 ** 31,
        clockMhz: 900,
        powerWatts: null,
        temperatureCelsius: 40,
        enough: true,
        throttled: [],
      },
    ],
  );
});
