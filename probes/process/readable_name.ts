/**
 * A C++ function as a person would write it, as far as that is simple: `_ZN4ggml3cpu6repack4gemvI…` is `ggml::cpu::repack::gemv<…>`. Parameters are left
 * out, and what follows template arguments, of which `inner` says how they are told. Other names stay.
 */
export function readableName(symbol: string, inner: (rest: string) => string = () => "…"): string {
  const names: string[] = [];
  let at = /^_Z(?:N[KVRO]*)?L?/.exec(symbol)?.[0].length ?? symbol.length;
  for (let length; (length = /^\d+/.exec(symbol.slice(at, at + 4))?.[0]) !== undefined;) {
    at += length.length;
    if (at + Number(length) > symbol.length) return symbol;
    const name = symbol.slice(at, at += Number(length));
    names.push(name.startsWith("_GLOBAL__N_") ? "(anonymous namespace)" : name);
    if (!symbol.startsWith("_ZN")) break;
  }
  return names.length === 0 ? symbol : names.join("::") + (symbol[at] === "I" ? `<${inner(symbol.slice(at + 1))}>` : "");
}
