import assert from "node:assert/strict";
import { dirname } from "node:path";
import { type FakeChild, fakeSpawn } from "../../tests/harness/fake_child.ts";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { type Temporary, temporary } from "../../tests/harness/temporary.ts";
import { GpuReadings, parseNvidia } from "./gpu_readings.ts";

Deno.test("a line of nvidia-smi; what a GPU does not tell is not known, and what is no line is none", () => {
  assert.deepEqual(parseNvidia("1, 87, 41, 20511, 81559, 1755, 512.33, 64, 0x0000000000000024"), {
    gpu: 1,
    busy: 87,
    memoryBusy: 41,
    memoryUsed: 20511 * 2 ** 20,
    memoryTotal: 81559 * 2 ** 20,
    clock: 1755,
    power: 512.33,
    temperature: 64,
    throttled: ["power limit", "temperature"],
  });
  const idle = parseNvidia("0, [N/A], [N/A], 3, 11264, 300, [Not Supported], 31, 0x0000000000000001");
  assert.deepEqual([idle?.busy, idle?.memoryBusy, idle?.power, idle?.temperature, idle?.throttled], [null, null, null, 31, []]);
  for (const line of ["", "No devices were found", "x, 1, 2, 3, 4, 5, 6, 7, 0x0", "0, 1"]) assert.equal(parseNvidia(line), null, line);
});

/** What the driver says in files of a card. */
function amdgpu(root: Temporary, card: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = root.file(`sys/class/drm/${card}/device/${name}`);
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.writeTextFileSync(path, text);
  }
}

Deno.test("a card of the amdgpu driver: the clock that is marked, and what its sensors say; power of this moment where no mean is told", async () => {
  using root = temporary();
  const all = { gpu_busy_percent: "93\n", mem_busy_percent: "41\n", mem_info_vram_used: "17163091968\n", mem_info_vram_total: "25753026560\n" };
  const clocks = "0: 500Mhz \n1: 2124Mhz *\n2: 2482Mhz \n";
  amdgpu(root, "card1", { ...all, pp_dpm_sclk: clocks, "hwmon/hwmon4/power1_average": "287000000\n", "hwmon/hwmon4/temp1_input": "61500\n" });
  amdgpu(root, "card2", { gpu_busy_percent: "0\n", pp_dpm_sclk: clocks.replace("*", ""), "hwmon/hwmon5/power1_input": "13500000\n" });
  amdgpu(root, "card1", { "hwmon/hwmon4/temp2_input": "72000\n" });
  amdgpu(root, "card2", { "hwmon/hwmon5/temp2_input": "44000\n" });
  const readings = new GpuReadings(new FolderFiles(root.path), fakeSpawn(() => {}), "/opt/bin");
  const none = { memoryBusy: null, memoryUsed: null, memoryTotal: null, clock: null };
  assert.deepEqual(await readings.look(), [
    {
      gpu: 1,
      busy: 93,
      memoryBusy: 41,
      memoryUsed: 17163091968,
      memoryTotal: 25753026560,
      clock: 2124,
      power: 287,
      temperature: 61.5,
      throttled: [],
    },
    { gpu: 2, busy: 0, ...none, power: 13.5, temperature: 44, throttled: [] },
  ]);
  readings.close();
});

Deno.test("cards have the numbers that HIP has for them: the order in which the kernel has GPUs for computing; others come behind them", async () => {
  using root = temporary();
  const folder = (path: string) => Deno.mkdirSync(root.file(path), { recursive: true });
  for (const [card, minor] of [["card1", 128], ["card2", 129], ["card9", 130]] as const) {
    amdgpu(root, card, { gpu_busy_percent: `${minor}\n` });
    folder(`sys/class/drm/${card}/device/drm/renderD${minor}`);
  }
  // A CPU, and two GPUs the other way round, the second with a number of two digits.
  for (const [node, minor] of [[0, 0], [2, 129], [10, 128]]) {
    folder(`sys/class/kfd/kfd/topology/nodes/${node}`);
    Deno.writeTextFileSync(root.file(`sys/class/kfd/kfd/topology/nodes/${node}/properties`), `simd_count 0\ndrm_render_minor ${minor}\nnum_xcc 1\n`);
  }
  const readings = new GpuReadings(new FolderFiles(root.path), fakeSpawn(() => {}), "/opt/bin");
  assert.deepEqual((await readings.look()).map(({ gpu, busy }) => [gpu, busy]), [[1, 128], [0, 129], [11, 130]]);
  readings.close();
});

Deno.test("GPUs are read by the tool and by the files that are there, each reading once", async () => {
  using root = temporary();
  amdgpu(root, "card0", { gpu_busy_percent: "37\n", mem_info_vram_used: "4096\n", mem_info_vram_total: "8192\n" });
  // A connector, and a card of another driver.
  for (const name of ["card0-DP-1", "card1"]) Deno.mkdirSync(root.file(`sys/class/drm/${name}`));
  let child: FakeChild;
  const readings = new GpuReadings(new FolderFiles(root.path), fakeSpawn((one) => child = one), "/opt/bin");
  const card = {
    gpu: 0,
    busy: 37,
    memoryUsed: 4096,
    memoryTotal: 8192,
    memoryBusy: null,
    clock: null,
    power: null,
    temperature: null,
    throttled: [],
  };
  assert.deepEqual(await readings.look(), [card]);
  assert.deepEqual([child!.options.program, child!.options.env!.PATH!.split(":")[0]], ["nvidia-smi", "/opt/bin"]);
  child!.says("2, 50, 10, 1, 2, 900, 100, 40, 0x0\n2, 60, 10, 1, 2, 9");
  child!.says("00, 100, 40, 0x0\n");
  const look = async () => (await readings.look()).map(({ gpu, busy }) => [gpu, busy]);
  let [latest, ...others] = await look();
  while (latest![1] !== 60) [latest, ...others] = await look();
  assert.deepEqual([latest, ...others], [[2, 60], [0, 37]]);
  assert.deepEqual((await readings.look()).map(({ gpu }) => gpu), [0]);
  readings.close();
  assert.deepEqual(child!.signals, ["SIGTERM"]);
});
