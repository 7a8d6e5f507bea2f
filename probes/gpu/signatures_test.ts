import assert from "node:assert/strict";
import { calls, families } from "./calls.ts";
import { failureOf } from "./results.ts";
import { beginsOf, type Family, signatureOf, signaturesOf, withoutVersion, WORDS } from "./signatures.ts";

Deno.test("each function of each family is decoded in some block of its program, with words that a record has room for", () => {
  for (const family of families) {
    const { template, params } = calls[family];
    assert.doesNotMatch(template, /WORD\d|AT_ENTRY|AT_RETURN|TELL\b|NUMBER_STACK|undefined/, family);
    const sites = Object.entries(params!).flatMap(([name, param]) => param.type === "site" ? [{ name, param }] : []);
    for (const [name, signature] of signaturesOf(family)) {
      assert.ok(signature.words.length <= WORDS, name);
      const own = sites.filter(({ param: { functions: [test] } }) => typeof test === "function" && test(name));
      assert.deepEqual(own.map(({ param }) => param.at).toSorted(), ["entry", "return"], `${name} of ${family}`);
    }
    for (const { name } of sites) assert.match(template, new RegExp(`\\{\\{${name}\\}\\}`), `${name} of ${family}`);
  }
});

Deno.test("a function is known by the names that versions, and streams of a thread, give it", () => {
  for (const name of ["cuMemAlloc", "cuMemAlloc_v2"]) assert.equal(signatureOf("cuda", name)?.name, "cuMemAlloc");
  for (const name of ["cuMemcpyAsync", "cuMemcpyAsync_ptsz"]) assert.equal(signatureOf("cuda", name)?.kind, "copy");
  assert.equal(withoutVersion("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  assert.equal(signatureOf("cudart", "cudaLaunchKernel_ptsz")?.kind, "launch");
  assert.equal(signatureOf("cudart", "__cudaLaunchKernel_ptsz")?.kind, "launch");
  assert.equal(signatureOf("hip", "__cudaLaunchKernel"), undefined);
  assert.deepEqual(beginsOf("cudart"), ["cuda", "__cudaLaunchKernel"]);
  // The device of a context lies elsewhere in each of these.
  const device = (name: string) => signatureOf("cuda", name)!.sources[1];
  assert.deepEqual(["cuCtxCreate_v2", "cuCtxCreate_v3", "cuCtxCreate_v4"].map(device), ["2", "4", "3"]);
  assert.equal(signatureOf("hip", "hipMallocManaged")?.variant, "managed");
  assert.equal(signatureOf("hip", "cudaMalloc"), undefined);
  // What is called, by which name; and which name has what is called.
  assert.deepEqual(["cuKernelGetName", "cuFuncGetName", "cuLibraryGetKernel"].map((name) => signatureOf("cuda", name)?.words), [
    ["name", "function"],
    ["name", "function"],
    ["function", "name"],
  ]);
  assert.equal(signatureOf("cuda", "cuNothing"), undefined);
});

Deno.test("words of a recording stay where they were: no function has come to share another's sources", () => {
  const slots = ([family, name]: readonly [Family, string]) => signatureOf(family, name)!.layout.slots.join(" ");
  const peers = [["cuda", "cuMemcpyPeer"], ["cudart", "cudaMemcpyPeer"], ["hip", "hipMemcpyPeer"]] as const;
  assert.deepEqual(peers.map(slots), ["0 1 3", "0 1 3", "0 1 3"]);
  const fourth = [
    ["cuda", "cuMemcpyAtoA"],
    ["cuda", "cuMemcpy3DBatchAsync"],
    ["cuda", "cuMemDiscardBatchAsync"],
    ["cudart", "cudaMemDiscardBatchAsync"],
  ] as const;
  assert.deepEqual(fourth.map(slots), ["3", "3", "3", "3"]);
  assert.equal(slots(["levelzero", "zeCommandListAppendMemoryRangesBarrier"]), "3 0");
  assert.equal(slots(["cuda", "cuMemcpyPeerAsync"]), "0 1 2 3");
});

Deno.test("HIP has the functions that its library has, and neither CUDA's others nor CUDA HIP's", () => {
  const words = (text: string) => text.split(" ");
  const own = "hipMalloc hipMallocAsync hipFree hipHostMalloc hipHostFree hipMemcpy hipMemcpyWithStream hipMemcpyAsync hipMemset hipLaunchKernel " +
    "hipExtLaunchKernel hipModuleLaunchKernel hipLaunchKernelExC hipStreamSynchronize hipEventRecord hipGraphLaunch hipDeviceGetName hipUserObjectCreate " +
    "hipImportExternalMemory hipGraphicsGLRegisterBuffer hipExtMallocWithFlags hipLibraryGetKernel hipMemcpyBatchAsync hipDrvLaunchKernelEx " +
    "hipDevicePrimaryCtxReset hipMemcpyParam2DAsync hipDrvMemcpy3DAsync hipDrvMemcpy2DUnaligned hipMemcpyHtoA hipMemsetD2D16Async hipModuleLoadFatBinary";
  const none =
    "hipThreadExit hipThreadSynchronize hipVDPAUGetDevice hipGraphicsVDPAURegisterVideoSurface hipGraphicsEGLRegisterImage hipEGLStreamConsumerConnect " +
    "hipGLMapBufferObject hipLogsCurrent hipGraphConditionalHandleCreate hipInitDevice hipGetExportTable hipMemDiscardBatchAsync hipKernelSetAttributeForDevice " +
    "hipGetKernel hipFuncGetName hipLibraryGetGlobal hipMemcpyWithAttributesAsync hipCtxResetPersistingL2Cache hipArrayGetPlane";
  assert.deepEqual(words(own).filter((name) => !signatureOf("hip", name)), []);
  assert.deepEqual(words(none).filter((name) => signatureOf("hip", name)), []);
  const ofCuda = words(none).map((name) => name.replace("hip", "cuda"));
  assert.deepEqual(ofCuda.filter((name) => !signatureOf("cudart", name)), []);
  const ofHip = words("cudaHostMalloc cudaHostFree cudaExtMallocWithFlags cudaExtLaunchKernel cudaMemcpyWithStream cudaDeviceGetName");
  assert.deepEqual(ofHip.filter((name) => signatureOf("cudart", name)), []);
});

Deno.test("what CUDA's runtime does to graphs and shares with others its driver does by the same name, but for what only the runtime has", () => {
  // Copies of graphs have one form in the driver, and no symbols; whose OpenGL a device is, it is not told.
  const alone = /^cuda(?:Graph\w*Memcpy\w*(?:1D|Symbol)|GLSetGLDevice|VDPAUSetVDPAUDevice)$/;
  const shared = signaturesOf("cudart").values().filter(({ name, kind }) => /^(?:graph|interop)/.test(kind) && !alone.test(name)).toArray();
  assert.ok(shared.length > 60);
  const twinOf = (name: string) => signatureOf("cuda", name.replace("cuda", "cu"));
  assert.deepEqual(shared.filter(({ name }) => !twinOf(name)).map(({ name }) => name), []);
  const asked =
    "cuPointerSetAttribute cuGreenCtxCreate cuGreenCtxDestroy cuCtxFromGreenCtx cuCtxRecordEvent cuCtxWaitEvent cuGLCtxCreate cuTexObjectCreate";
  assert.deepEqual(asked.split(" ").filter((name) => !signatureOf("cuda", name)), []);
});

Deno.test("what a call returned, in words; not ready is no failure, and Vulkan's failures are below 0", () => {
  assert.equal(failureOf("cuda", 0), null);
  assert.equal(failureOf("cudart", 2), "out of memory (2)");
  assert.equal(failureOf("cuda", 600), null);
  assert.equal(failureOf("nccl", 7), null);
  assert.equal(failureOf("nccl", 5), "invalid usage (5)");
  assert.equal(failureOf("nccl", 8), "timeout (8)");
  assert.equal(failureOf("vulkan", 2), null);
  assert.equal(failureOf("vulkan", -2), "out of device memory (-2)");
  assert.equal(failureOf("cuda", 12345), "error (12345)");
});

Deno.test("all that real engines ask GPU libraries for is decoded, but cuBLAS, and what tells the runtime of their kernels", () => {
  for (const [file, asked] of [["imported.txt", 82], ["imported_whisper.txt", 79]] as const) {
    const text = Deno.readTextFileSync(new URL(`../../tests/fixtures/gpu/${file}`, import.meta.url));
    const names = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    assert.equal(names.length, asked);
    const unknown = names.filter((name) => !families.some((family) => signatureOf(family, name)));
    assert.deepEqual(unknown.filter((name) => !/^(?:cublas|__cuda)[A-Z]/.test(name)), []);
  }
});
