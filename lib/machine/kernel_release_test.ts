import assert from "node:assert/strict";
import { filtersReturns, hidesPoint, sleepsInRing } from "./kernel_release.ts";

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

Deno.test("kernel release: of a distribution that stays at one point, the number does not say what it has mended since, but Oracle's", () => {
  const oracles = ["6.12.0-104.16.2.el9uek.x86_64", "6.12.0-105.51.5.el10uek.x86_64"] as const;
  const all = ["6.12.0-124.8.1.el10_1.x86_64", "6.11.0-29-generic", ...oracles, "6.12.0", "6.12.0-rc1", "6.12.48+deb13-amd64"];
  assert.deepEqual(all.filter(hidesPoint), all.slice(0, 2));
  assert.deepEqual(oracles.map((release) => filtersReturns(release, "x86_64")), [true, false]);
});

Deno.test("kernel release: who writes into a ring buffer may sleep on kernels for real time until that was mended", () => {
  const all = ["5.15.0-1050-realtime", "6.1.90-rt30", "6.6.83-rt52", "6.10.2-rt14", "6.11.5", "6.6.84-rt53", "6.11.6", "6.12.0-rt1", "7.0.0"];
  assert.deepEqual(all.filter(sleepsInRing), all.slice(0, 5));
});
