import type { LibraryNeed } from "../../lib/programs/probe.ts";

/** Each operator that is dispatched asks here whether somebody (a profiler in the process) wants to be told of it. By value and exported in 1.13 and 2.x. */
export const DISPATCHED = "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE";

/** `at::_ops::add_Tensor::call(…)`: how an operator is asked for, from Python, from C++ and by other operators. */
const CALL = /^_ZN2at4_ops(\d+)(\w+)$/;

/** PyTorch for the CPU has every operator in this library, those of a GPU's tensors too: where they run is found out behind `call`. */
export const libtorch: LibraryNeed = { prefix: "libtorch_cpu", symbols: [DISPATCHED], ready: "mapped", apart: true, each: true, throws: true };

/** Whether a symbol is the mangled name of an operator's `call`. */
export const isOperator = Object.assign((symbol: string): boolean => operatorOf(symbol) !== null, {
  pattern: "_ZN2at4_ops*4callE*",
  begins: ["_ZN2at4_ops"],
});

/** `add_Tensor` for the mangled name of `at::_ops::add_Tensor::call`: the operator and its overload. Null for another function. */
export function operatorOf(symbol: string): string | null {
  const [, length, rest] = CALL.exec(symbol) ?? [];
  if (rest === undefined) return null;
  const name = rest.slice(0, Number(length));
  return rest.startsWith("4callE", name.length) && name.length > 0 ? name : null;
}
