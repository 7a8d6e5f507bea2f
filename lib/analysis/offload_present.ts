import { quantity } from "../events/quantity.ts";
import type { Note, Table, View } from "../events/view.ts";
import { tableOf } from "./figures_table.ts";
import { BLAS } from "./offload.ts";
import type { OffloadResult } from "./offload_schema.ts";
import type { OperatorsResult } from "./operators_schema.ts";
import { info, warning } from "./quality.ts";
import { ranges } from "./ranges.ts";

type Device = OffloadResult["devices"][number];

/** Kinds of tensors beyond these are little of what is copied. */
const MAX_ROWS = 12;
/** One device has to be so many times as fast as another before layers are worth moving: less may be chance. */
const CLEARLY = 1.2;

/** Which device computes what, and what is copied for it. */
export function presentOffload(offload: OffloadResult, { tokens, graphs }: OperatorsResult): View[] {
  // Others were generated in calls with a prompt, and so their time is a prompt's.
  const alone = tokens.decode - tokens.besidePrompts;
  const computed = tokens.prefillCalls + tokens.decodeCalls + graphs.count > 0;
  return [devices(offload, alone), ...copies(offload, alone), ...computed && !showsParts(offload) ? [HIDES_PARTS] : notes(offload, alone)];
}

/** Of whatever is computed, the CPU's share too, the scheduler asks a backend: unless its compiler put that function into the scheduler's own. */
function showsParts({ devices }: OffloadResult): boolean {
  return devices.some(({ splits }) => splits > 0);
}

const HIDES_PARTS = warning(
  "Which device computes what is not to be seen: this build's scheduler, as clang and icx make it, calls nothing to probe. How many layers " +
    "are on a GPU (-ngl) llama.cpp says as it loads the model.",
);

function devices({ devices }: OffloadResult, tokens: number): Table {
  // An engine that generates no tokens (speech, pictures) computes all the same.
  const time = ({ prefill, decode, other }: Device["computed"]) => tokens === 0 ? prefill.ns + decode.ns + other.ns : decode.ns / tokens;
  return tableOf(tokens === 0 ? "Devices" : "Devices, and time for each generated token", devices, [
    [{ title: "device", unit: "text" }, (row) => row.name],
    [{ title: "layers", unit: "text" }, ({ layers, output }) => [...ranges(layers), ...output ? ["output"] : []].join(", ")],
    [{ title: "parts of graphs", unit: "count" }, (row) => row.splits],
    [{ title: "nodes", unit: "count" }, (row) => row.nodes],
    [{ title: "asked to compute", unit: "ns" }, (row) => time(row.computed)],
    [{ title: "waited for", unit: "ns" }, (row) => time(row.waited)],
    [{ title: "copied to or from", unit: "ns" }, (row) => time(row.moved)],
  ]);
}

function copies({ copies }: OffloadResult, tokens: number): Table[] {
  if (copies.length === 0) return [];
  return [tableOf("Copied", copies, [
    [{ title: "tensor", unit: "text" }, (row) => row.name],
    [{ title: "where", unit: "text" }, ({ way, device }) => `${way} ${device}`],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "bytes", unit: "bytes" }, (row) => row.bytes],
    [{ title: "for each token", unit: "bytes" }, (row) => tokens === 0 ? null : row.decode.bytes / tokens],
    [{ title: "time", unit: "ns" }, (row) => row.ns],
    [{ title: "of", unit: "text" }, (row) => row.time],
    [{ title: "rate", unit: "bytes-per-second" }, ({ bytes, ns, time }) => ns === 0 || time !== "copying" ? null : bytes / ns * 1e9],
  ], MAX_ROWS)];
}

function notes({ devices, copies, elsewhere, untoldNodes }: OffloadResult, tokens: number): Note[] {
  const cpu = devices.find(({ name }) => name === "CPU");
  const others = devices.filter(({ name, layers, output }) => name !== "CPU" && (layers.length > 0 || output));
  const notes: Note[] = [];
  if (untoldNodes > 0) notes.push(info(`${untoldNodes} nodes were not told of yet when counting ended: layers may be missing. Watch longer.`));
  if (devices.some(({ name }) => name === BLAS)) {
    notes.push(info("Products of prompts are computed by BLAS: they are in no row of operators, and their time is that of the device BLAS."));
  }
  const weights = copies.filter(({ way, name }) => way === "to" && name.endsWith(".weight"));
  const again = weights.reduce((sum, { prefill, decode }) => sum + prefill.bytes + decode.bytes, 0);
  if (again > 0) {
    const text = `${quantity(again, "bytes")} of weights were copied to a device while it computed: prompts use it for layers that the CPU keeps.`;
    notes.push(warning(text));
  }
  if (others.length === 0) {
    return [
      ...notes,
      info(
        "No layer was computed by another device than the CPU. Where this build knows a GPU that is here, llama.cpp moves layers there with -ngl.",
      ),
    ];
  }
  for (const [device, some] of Map.groupBy(elsewhere, ({ device }) => device)) {
    const operators = some.map(({ operator, nodes, ofCache }) => `${nodes} ${operator}${ofCache ? " of keys and values" : ""}`).join(", ");
    notes.push(info(`${device} computes for layers that are elsewhere, in each graph: ${operators}.`));
  }
  const mixing = others.filter(({ operators }) => operators.some(({ name }) => name === "MUL_MAT_ID"));
  if (mixing.length > 0) {
    notes.push(info(`Which experts are used by the layers of ${mixing.map(({ name }) => name).join(", ")} is not to be seen from the CPU.`));
  }
  if (tokens === 0) return notes;
  // What it takes is part of the CPU's time, and of none of its layers.
  const products = elsewhere.filter(({ operator, device }) => device === "CPU" && operator.startsWith("MUL_MAT"));
  if (products.some(({ ofCache }) => ofCache)) {
    const text =
      "The CPU computes the attention of layers that are on another device: their cache of keys and values is in the host's memory (-nkvo).";
    return [...notes, info(text)];
  }
  // Nor does a device keep that which computes with keys and values that it is given anew for each token.
  const cached = copies.filter(({ way, name }) => way === "to" && /^cache_[kv]/.test(name));
  const bytes = cached.reduce((sum, { decode }) => sum + decode.bytes, 0) / tokens;
  if (bytes > 0) {
    const names = [...new Set(cached.map(({ device }) => device))].join(", ");
    const text = `${quantity(bytes, "bytes")} of keys and values are copied to ${names} for each token: their cache is in the host's memory (-nkvo).`;
    return [...notes, warning(text)];
  }
  if (products.length > 0) {
    const text =
      "The CPU multiplies weights of layers that are on another device (--n-cpu-moe, -ot): fewer of them, as far as there is memory there.";
    return [...notes, info(text)];
  }
  return [...notes, ...advice(cpu, others)];
}

/** How many layers that is for llama.cpp. */
function layersOf({ layers, output }: Device): number {
  return layers.length + Number(output);
}

/** Time that all layers of the device take for all generated tokens. */
function layersNs({ computed, waited, moved }: Device): number {
  return computed.decode.ns + waited.decode.ns + moved.decode.ns;
}

/** Layers belong where one takes less time. */
function advice(cpu: Device | undefined, others: readonly Device[]): Note[] {
  if (!cpu || cpu.layers.length === 0) return [];
  const ngl = others.reduce((n, device) => n + layersOf(device), 0);
  const own = layersNs(cpu) / layersOf(cpu), there = others.reduce((ns, device) => ns + layersNs(device), 0) / ngl;
  const names = others.map(({ name }) => name).join(", ");
  const times = (ratio: number) => ratio.toFixed(1);
  if (own > CLEARLY * there) {
    return [
      info(`A layer takes the CPU ${times(own / there)} times as long as ${names}: offload more than ${ngl}, as far as there is memory (-ngl).`),
    ];
  }
  if (there > CLEARLY * own) {
    return [info(`A layer takes ${names} ${times(there / own)} times as long as the CPU: offload fewer than ${ngl} (-ngl).`)];
  }
  return [info(`A layer takes ${names} about as long as the CPU: moving layers (-ngl) changes little.`)];
}
