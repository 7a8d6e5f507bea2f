import * as glue from "gecko-profiler-demangle/index_bg.js";
import demangler from "gecko-profiler-demangle/index_bg.wasm" with { type: "bytes" };
import { readableName } from "../process/readable_name.ts";

/** What the library is made of; it has no types of its own for its parts. */
const { __wbg_set_wasm, demangle_any } = glue as unknown as {
  __wbg_set_wasm(exports: WebAssembly.Exports): void;
  demangle_any(symbol: string): string;
};
let isReady = false;

/**
 * A kernel as its source calls it: `at::native::reduce_kernel<512, 1, …>` of `_ZN2at6native13reduce_kernelILi512ELi1E…`. Kernels differ by their template
 * arguments, so these stay; parameters are left out. Of a name that was cut off there is what {@link readableName} makes of it, with its arguments as they
 * are mangled: they alone tell one kernel of CUTLASS from another.
 */
export function kernelName(symbol: string): string {
  if (!symbol.startsWith("_Z")) return symbol;
  if (!isReady) {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(demangler), {
      "./index_bg.js": glue as unknown as WebAssembly.ModuleImports,
    });
    __wbg_set_wasm(exports);
    (exports.__wbindgen_start as () => void)();
    isReady = true;
  }
  const name = demangle_any(symbol);
  // What it cannot read comes back without the first underscore.
  return symbol.endsWith(name) ? readableName(symbol, (rest) => rest) : withoutParameters(name);
}

function withoutParameters(name: string): string {
  if (!name.endsWith(")")) return name;
  let at = name.length, depth = 0;
  do {
    at--;
    depth += name[at] === ")" ? 1 : name[at] === "(" ? -1 : 0;
  } while (depth > 0 && at > 0);
  return at > 0 ? name.slice(0, at) : name;
}
