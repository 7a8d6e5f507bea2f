import assert from "node:assert/strict";
import { filtersReturns } from "./kernel_release.ts";

Deno.test("kernel release: filters are asked for returns from 6.11 on until that was mended, on x86-64", () => {
  const filtered = (releases: readonly string[]) => releases.filter((release) => filtersReturns(release, "x86_64"));
  const all = ["6.11.0-29-generic", "6.11.11", "6.12.0-55.el10.x86_64", "6.12-rc1", "6.12.16", "6.13.0", "6.13.4-arch1-1"];
  assert.deepEqual(filtered(all), all);
  assert.deepEqual(
    filtered(["5.12.1", "6.8.0-60-generic", "6.10.14", "6.12.17", "6.12.48+deb13-amd64", "6.13.5", "6.14.0", "6.18.44", "7.0.0", ""]),
    [],
  );
  assert.ok(!filtersReturns("6.11.0", "aarch64"));
});
