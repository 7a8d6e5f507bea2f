import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's top. */
export const top = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Everything that the tests fetch or build, ignored by git: deleting it costs only the time to make it again. */
export const cache = join(top, ".cache");

/** Where node-llama-cpp is installed. */
export const engineFolder = join(cache, "engine");

/** Where engines of other years are, each in a folder of its own. */
export const moreEngines = join(cache, "more-engines");

/** Where planted targets and small helpers are built. */
export const builtFolder = join(cache, "bin");

/** Where headers of a kernel are laid together, for BCC. */
export const kernelHeaders = join(cache, "kernel_headers");

/** Debian roots of other suites and the wrappers that run their bpftrace. */
export const rootsFolder = join(cache, "roots");
