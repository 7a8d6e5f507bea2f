import { judgeFile } from "./files.ts";

/** What is used of the reader that Perfetto's own user interface talks through (`EngineBase`). */
export interface Engine {
  parse(data: Uint8Array): Promise<void>;
  notifyEof(): Promise<void>;
  query(sql: string): Promise<Result>;
}

interface Result {
  columns(): string[];
  iter(spec: Record<string, never>): { valid(): boolean; next(): void; get(column: string): unknown };
}

interface Port {
  onmessage?: (message: { data: Uint8Array }) => void;
  postMessage(data: Uint8Array): void;
}

/** A fresh trace_processor without a trace, in this thread: no worker and no child that a test would have to end. */
export async function startEngine(): Promise<Engine> {
  const { EngineBase } = await (base ??= importBase());
  const port: Port = { postMessage: (data) => engine.onRpcResponseBytes(data) };
  const engine = new (class extends EngineBase {
    readonly id = "judge";
    readonly mode = "WASM";
    rpcSendRequestBytes(data: Uint8Array) {
      port.onmessage!({ data });
    }
  })();
  await loadBundle(port);
  return engine as unknown as Engine;
}

// It is older than the wasm file and warns of every field that it does not know yet, so it gets a console of its own.
async function importBase() {
  const url = URL.createObjectURL(new Blob(["const console = { log() {}, warn() {} };\n", Deno.readTextFileSync(judgeFile("engine.mjs"))], { type }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}
let base: ReturnType<typeof importBase> | undefined;
const type = "text/javascript";

/**
 * The bundle expects to be a web worker that is posted a port. It is evaluated with stand-ins for the names of a worker's scope that it
 * uses; the wasm file reaches it through the synchronous XMLHttpRequest of workers.
 */
async function loadBundle(port: Port): Promise<void> {
  const scope: { onmessage?: (message: { data: Port }) => void; location: { href: string } } = { location: { href: "judge" } };
  // It logs through the console what it also returns as an error.
  const quiet = { ...console, warn: () => {}, log: () => {} };
  const names = { self: scope, WorkerGlobalScope: Object, XMLHttpRequest: WasmRequest, WebAssembly: wasm32, console: quiet };
  new Function(...Object.keys(names), Deno.readTextFileSync(judgeFile("engine_bundle.node.js")))(...Object.values(names));
  // The runtime announces itself in a microtask.
  await new Promise((resolve) => setTimeout(resolve, 0));
  scope.onmessage!({ data: port });
}

class WasmRequest {
  response: ArrayBuffer | undefined;
  open(): void {}
  send(): void {
    this.response = Deno.readFileSync(judgeFile("trace_processor.wasm")).buffer;
  }
}

const memorySection = 5;

/** The package brings only the 32-bit build, while the bundle takes the other where a module compiles that is nothing but a 64-bit memory. */
const wasm32 = Object.create(WebAssembly, {
  Module: {
    value: class extends WebAssembly.Module {
      constructor(bytes: Uint8Array<ArrayBuffer>) {
        if (bytes[8] === memorySection) throw new WebAssembly.CompileError("64-bit memory is not wanted here.");
        super(bytes);
      }
    },
  },
});
