import assert from "node:assert/strict";
import { usesGpuFile } from "../../tests/harness/gpu_file_use.ts";
import type { Span } from "../events/span.ts";
import { Tracks } from "../events/tracks.ts";
import type { View } from "../events/view.ts";
import { gpu } from "./gpu.ts";
import { presentGpu } from "./gpu_present.ts";

const tracks = new Tracks();

function shown(...spans: readonly Span[]): readonly View[] {
  const analysis = gpu();
  for (const span of spans) analysis.span(span);
  return presentGpu(analysis.result());
}

const launch: Span = {
  type: "slice",
  track: tracks.thread(7, 7),
  name: "cuLaunchKernel",
  category: "gpu.cuda",
  start: 1,
  end: 2,
  gpu: { family: "cuda", kind: "launch", result: 0, failure: null },
};

Deno.test("gpu: what is launched is not seen on the GPU, and who shows it is named, unless parcagpu tells of it", () => {
  const ran: Span = { type: "slice", track: tracks.lane(7, "GPU 0, stream 13"), name: "rope", category: "gpu.kernel", start: 3, end: 9 };
  const notes = (...spans: readonly Span[]) => shown(...spans).flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
  const blind = /not to be seen from the CPU: parcagpu .* nsys profile or rocprof show it/;
  assert.match(notes(launch), blind);
  assert.doesNotMatch(notes(launch, ran), blind);
  assert.doesNotMatch(notes(), blind);
});

Deno.test("gpu: who shares a GPU is shown with when: from the first use of its device file to the last, since counting began", () => {
  const second = 1e9;
  const opened: Span = { type: "mark", at: second, kind: "window", stream: "gpu/files", text: "", open: true };
  const use = (pid: number, start: number, end: number, errno = 0, what: "open" | "map" = "open") =>
    usesGpuFile(tracks, pid, start, end, { what: errno === 0 ? "ioctl" : what, errno });
  const rows = (titles: readonly string[], ...spans: readonly Span[]) => {
    const table = shown(opened, ...spans).find((view) => view.type === "table")!;
    const places = titles.map((title) => table.columns.findIndex((column) => column.title === title));
    return table.rows.map((row) => places.map((place) => row[place]));
  };
  const uses = [use(7, 2 * second, 2.5 * second), use(9, 3 * second, 3.5 * second), use(9, 5 * second, 6 * second)];
  assert.deepEqual(rows(["process", "from", "to", "failed"], ...uses), [
    ["other (9)", 2 * second, 5 * second, undefined],
    ["target (7), the target", second, 1.5 * second, undefined],
  ]);
  assert.deepEqual(rows(["process", "failed"], uses[0]!, use(9, 3 * second, 3 * second, 13)), [
    ["target (7), the target", null],
    ["other (9)", "1: EACCES"],
  ]);
  const failing = [
    use(7, second, second, 13),
    use(7, second, second, 19, "map"),
    use(7, second, second, 22, "map"),
    use(7, second, second, 19, "map"),
  ];
  assert.deepEqual(rows(["failed", "maps", "failed maps"], ...failing), [["1: EACCES", 0, "3: ENODEV, EINVAL"]]);
});
