/*
 * Makes calls into the stand-ins of this folder, of every kind, and of each a known number:
 *
 *     calls FIRST LAST [PREFIX]
 *
 * Call i, from FIRST to LAST, is made by thread i % 3; each does what its number says. PREFIX: the libraries are opened while it runs, at PREFIXlibcuda.so.1
 * and so on; without one they were linked. When it has made the first half, another process (this program, anew) makes the other half. With $GPU_GO it says
 * "ready" first, and waits for that file.
 */
#define _GNU_SOURCE
#include <err.h>
#include <string.h>
#include <sys/wait.h>

#include "functions.h"

/* A kernel's name that is longer than seventeen records have room for, and so than one of CUTLASS 3. */
#define FIVE(text) text text text text text
#define LONG_NAME "_ZN2at6native29vectorized_elementwise_kernelI" FIVE(FIVE("Li4ENS0_11FillFunctorIhEESt5arrayIPcLm1EE")) "EEviT0_T1_"

#include "level_zero_calls.h"

enum { THREADS = 3, KINDS = 11, KEPT = 64, OTHERS = 121 };

/* Memory of the program that no two calls speak of. It is not there: nobody touches it. */
#define OWN(i) ((void *)(0x500000000000 + ((uintptr_t)(i) << 32)))

/* What runs on a GPU, by the name that the runtime knows it by. */
__attribute__((noinline)) void scaled_add_kernel(void) { __asm__ volatile(""); }

/* What nvcc makes of another one since CUDA 13. */
__attribute__((noinline)) static void __device_stub__Z12clamp_kernelPf(int i, CUstream stream) {
  CALL(__cudaLaunchKernel)((CUkernel)0x77, (dim3){i, 4, 5}, (dim3){32, 2, 1}, NULL, 48, stream);
}

/* What clang makes of one for HIP: the runtime knows it by a constant that has the kernel's name, and holds where the function is that launches it. */
static void __device_stub__lerp_kernel(float *x) { __asm__ volatile("" : : "r"(x)); }
extern void (*const lerp_kernel)(float *) __asm__("_Z11lerp_kernelPf");
void (*const lerp_kernel)(float *) = __device_stub__lerp_kernel;

struct thread {
  int first, last, number;
};

static void *run(void *argument) {
  const struct thread *thread = argument;
  uint64_t kept[KINDS][KEPT];
  int count[KINDS] = {0};
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUlibrary library = NULL;
  CUkernel kernel = NULL;
  CUfunction function = NULL;
  const char *name;
  struct level_zero zero = {0};
  hipModule_t hip_module = NULL;
  hipFunction_t hip_function = NULL;
  CUstream stream = (CUstream)(uintptr_t)(0x1000 + thread->number);
  CUevent event = NULL;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  ncclComm_t comm = NULL;
  ncclUniqueId id = {{0}};
  static char data[65536];
  int number;
  size_t large, larger;
  void *pointer = NULL;
  CUdeviceptr device = 0, reserved = 0;
#define KEEP(kind, address) (count[kind] < KEPT ? (void)(kept[kind][count[kind]++] = (uint64_t)(address)) : (void)0)
#define TAKE(kind) (count[kind] > 0 ? kept[kind][--count[kind]] : 0)
  for (int i = thread->first; i < thread->last; i++) {
    if (i % THREADS != thread->number) continue;
    const size_t bytes = 512 + 1009 * (size_t)i;
    /* Each thread does these in turn, from capturing to launching. Their number is odd: what i % 2 decides is otherwise the next time. */
    switch (i / THREADS % (OTHERS + OF_LEVEL_ZERO)) {
      case 0: CALL(cuInit)(i % 2); break;
      case 1: CALL(cuDeviceGetCount)(&number); break;
      case 2: CALL(cuDeviceGet)(&number, i % 2); break;
      case 3: CALL(cuDeviceGetAttribute)(&number, 1, 0); break;
      case 4: CALL(cuMemGetInfo_v2)(&large, &larger); break;
      case 5: CALL(cuCtxCreate_v2)(&context, 0, i % 2); break;
      case 6: CALL(cuCtxSetCurrent)(context); break;
      case 7: CALL(cuModuleLoadData)(&module, data); break;
      case 8: CALL(cuModuleGetFunction)(&function, module, i % 2 ? "rope_norm_f32" : LONG_NAME); break;
      case 9: if (CALL(cuMemAlloc_v2)(&device, bytes) == 0) KEEP(0, device); break;
      case 10: CALL(cuMemAlloc_v2)(&device, 1ull << 41); break;
      case 11: if (CALL(cuMemAllocManaged)(&device, bytes, 1) == 0) KEEP(0, device); break;
      case 12: if (CALL(cuMemAllocAsync)(&device, bytes, stream) == 0) KEEP(1, device); break;
      case 13: if (CALL(cuMemAllocHost_v2)(&pointer, bytes) == 0) KEEP(2, pointer); break;
      case 14: {
        CUmemAllocationProp where = {.type = 1, .location = {.type = 1 + i % 2, .id = i % 3}};
        if (CALL(cuMemCreate)((CUmemGenericAllocationHandle *)&device, bytes, &where, 0) == 0) KEEP(3, device);
        break;
      }
      case 15: if (CALL(cuMemAddressReserve)(&device, bytes, 0, 0, 0) == 0) reserved = device; break;
      case 16: CALL(cuMemMap)(device, bytes, 0, 1, 0); break;
      case 17: CALL(cuMemcpyHtoD_v2)(device, data, bytes); break;
      case 18: CALL(cuMemcpyDtoH_v2)(data, device, i % 2 ? bytes : 0); break;
      case 19: i % 2 ? CALL(cuMemcpyPeerAsync)(device, context, device, NULL, bytes, stream) : CALL(cuMemcpyDtoD_v2)(device, device, bytes); break;
      case 20: CALL(cuMemcpyHtoDAsync_v2)(device, data, bytes, stream); break;
      case 21: CALL(cuMemcpyDtoHAsync_v2)(data, device, bytes, stream); break;
      case 22: if (CALL(cuMemAlloc_v2)(&device, bytes) == 0) KEEP(0, device); break;
      case 23: CALL(cuMemcpy)(device, (CUdeviceptr)data, bytes); break;
      case 24: CALL(cuMemcpyAsync_ptsz)((CUdeviceptr)data, device, bytes, stream); break;
      case 25: {
        CUDA_MEMCPY2D copy = {.srcMemoryType = 1, .dstMemoryType = 2, .WidthInBytes = bytes, .Height = 7};
        CALL(cuMemcpy2DAsync_v2)(&copy, stream);
        break;
      }
      case 26: CALL(cuMemsetD32Async)(device, 0, bytes, stream); break;
      case 27: CALL(cuLaunchKernel)(function, 70000 + i, 3, 5, 256, 2, 1, 48, stream, NULL, NULL); break;
      case 28: CALL(cuStreamBeginCapture_v2)(stream, 0); break;
      case 29:
        if (exec && i % 2) CALL(cuGraphLaunch)(exec, stream);
        else CALL(cuLaunchKernel)(function, i, 65535, 65535, 1024, 1, 1, 0, stream, NULL, NULL);
        break;
      case 30: CALL(cuStreamEndCapture)(stream, &graph); break;
      case 31: CALL(cuGraphInstantiateWithFlags)(&exec, graph, 0); break;
      case 32: CALL(cuGraphLaunch)(exec, stream); break;
      case 33: CALL(cuStreamCreate)(&stream, 0); break;
      case 34: CALL(cuEventCreate)(&event, 0); break;
      case 35: CALL(cuEventRecord)(event, stream); break;
      case 36: CALL(cuEventQuery)(event); break;
      case 37: CALL(cuEventSynchronize)(event); break;
      case 38: CALL(cuStreamSynchronize)(stream); break;
      case 39: CALL(cuCtxSynchronize)(); break;
      case 40: CALL(cuMemFree_v2)(TAKE(0)); break;
      case 41: CALL(cuMemFreeAsync)(TAKE(1), stream); break;
      case 42: CALL(cuMemFreeHost)((void *)TAKE(2)); break;
      case 43: CALL(cuMemRelease)(TAKE(3)); break;
      case 44: CALL(cudaGetDeviceCount)(&number); break;
      case 45: CALL(cudaSetDevice)(i % 3); break;
      case 46: if (CALL(cudaMalloc)(&pointer, bytes) == 0) KEEP(4, pointer); break;
      case 47: if (CALL(cudaMallocManaged)(&pointer, bytes, 1) == 0) KEEP(4, pointer); break;
      case 48: if (CALL(cudaHostAlloc)(&pointer, bytes, 0) == 0) KEEP(5, pointer); break;
      case 49: CALL(cudaMemcpy)(pointer, data, bytes, i % 4); break;
      case 50: CALL(cudaMemcpyAsync)(pointer, data, bytes, i % 4, stream); break;
      case 51:
        if (i % 2) CALL(cudaMemcpyPeerAsync)(pointer, 0, pointer, 1, bytes, stream);
        else CALL(cudaMemcpy2DAsync)(pointer, 64, data, 64, bytes, 11, 2, stream);
        break;
      case 52: CALL(cudaMemset)(pointer, 0, bytes); break;
      case 53:
        if (i % 2) __device_stub__Z12clamp_kernelPf(i, stream);
        else CALL(cudaLaunchKernel)((const void *)scaled_add_kernel, (dim3){70000 + i, 2, 9}, (dim3){128, 4, 2}, NULL, 48, stream);
        break;
      case 54: CALL(cudaFree)((void *)TAKE(4)); break;
      case 55: CALL(cudaFreeHost)((void *)TAKE(5)); break;
      case 56: CALL(cudaStreamSynchronize)(stream); break;
      case 57: i % 2 ? CALL(cudaDeviceSynchronize)() : CALL(cudaGetLastError)(); break;
      case 58: i % 2 ? CALL(ncclGetUniqueId)(&id) : CALL(ncclCommInitRank)(&comm, 2, id, i % 2); break;
      case 59: CALL(ncclAllReduce)(data, data, bytes, i % 10, 0, comm, stream); break;
      case 60: i % 2 ? CALL(ncclAllGather)(data, data, bytes, 6, comm, stream) : CALL(ncclSend)(data, bytes, 9, 1, comm, stream); break;
      case 61:
        if (i % 2) CALL(ncclReduce)(data, data, bytes, 7, 0, 1, comm, stream);
        else CALL(ncclPutSignal)(data, bytes, 7, 1, NULL, 8, 0, 0, 0, comm, stream);
        break;
      case 62: i % 2 ? CALL(ncclGroupStart)() : CALL(ncclGroupEnd)(); break;
      case 63: i % 2 ? CALL(ncclRecv)(data, bytes, 2, 1, comm, stream) : CALL(ncclBroadcast)(data, data, bytes, 4, 1, comm, stream); break;
      case 64: CALL(ncclReduceScatter)(data, data, bytes, 6, 0, comm, stream); break;
      case 65: CALL(cuDevicePrimaryCtxRetain)(&context, i % 2); break;
      case 66: if (CALL(cuMemAllocPitch_v2)(&device, &large, bytes, 5, 4) == 0) KEEP(0, device); break;
      case 67: if (CALL(cuMemAllocFromPoolAsync)(&device, bytes, NULL, stream) == 0) KEEP(1, device); break;
      case 68: if (CALL(cuMemHostRegister_v2)(OWN(i), bytes, 0) == 0) KEEP(6, OWN(i)); break;
      case 69: CALL(cuMemPrefetchAsync)(device, bytes, 0, stream); break;
      case 70: i % 2 ? CALL(cuMemsetD8_v2)(device, 0, bytes) : CALL(cuMemsetD2D16Async)(device, 4096, 0, bytes, 3, stream); break;
      /* Without a stream, the one of all, and the thread's own. */
      case 71: CALL(cuMemsetD8Async)(device, 0, bytes, (CUstream)(uintptr_t)(i / THREADS % 3)); break;
      case 72: {
        CUDA_MEMCPY3D copy = {.srcMemoryType = 2, .dstMemoryType = 1, .WidthInBytes = bytes, .Height = 5, .Depth = 3};
        CALL(cuMemcpy3DAsync_v2)(&copy, stream);
        break;
      }
      case 73: CALL(cuLibraryLoadData)(&library, data, NULL, NULL, 0, NULL, NULL, 0); break;
      case 74: CALL(cuLibraryGetKernel)(&kernel, library, "soft_max_f16"); break;
      case 75:
        /* Of one that nobody asked for by its name: a program that goes through a library's kernels. */
        if (i % 4 == 3) CALL(cuKernelGetName)(&name, (CUkernel)(function = (CUfunction)(uintptr_t)(0x88000 + thread->number)));
        else CALL(cuKernelGetFunction)(&function, kernel);
        break;
      case 76: CALL(cuLaunchCooperativeKernel)(function, i, 7, 3, 64, 4, 2, 48, stream, NULL); break;
      case 77: {
        CUlaunchConfig config = {70000 + i, 5, 3, 512, 1, 2, 48, (CUstream)(uintptr_t)(i / THREADS % 3), NULL, 0};
        CALL(cuLaunchKernelEx)(&config, function, NULL, NULL);
        break;
      }
      case 78: CALL(cuStreamQuery)(stream); break;
      case 79: CALL(cuStreamWaitEvent)(stream, event, 0); break;
      case 80: CALL(cuEventDestroy_v2)(event); break;
      case 81: CALL(cuMemHostUnregister)((void *)TAKE(6)); break;
      case 82: CALL(cuMemUnmap)(reserved, 4096); break;
      case 83: CALL(cuMemAddressFree)(reserved, 4096); break;
      case 84: CALL(cuGraphDestroy)(graph); break;
      /* Nobody has waited for what it was given. */
      case 85: CALL(cuStreamDestroy_v2)(stream); break;
      case 86: CALL(cudaStreamCreateWithFlags)(&stream, 1); break;
      case 87: if (CALL(cudaMallocAsync)(&pointer, bytes, stream) == 0) KEEP(7, pointer); break;
      case 88: CALL(cudaMemsetAsync)(pointer, 0, bytes, (CUstream)(uintptr_t)(i / THREADS % 3)); break;
      case 89: {
        cudaMemcpy3DParms copy = {.extent = {bytes, 3, 2}, .kind = i % 4};
        CALL(cudaMemcpy3DAsync)(&copy, stream);
        break;
      }
      case 90: CALL(cudaStreamBeginCapture)(stream, 0); break;
      case 91: case 92: {
        cudaLaunchConfig_t config = {{70000 + i, 2, 3}, {96, 2, 1}, 48, stream, NULL, 0};
        CALL(cudaLaunchKernelExC)(&config, (const void *)scaled_add_kernel, NULL);
        break;
      }
      case 93: CALL(cudaStreamEndCapture)(stream, &graph); break;
      case 94: CALL(cudaGraphInstantiate)(&exec, graph, 0); break;
      case 95: CALL(cudaGraphDestroy)(graph); break;
      case 96: CALL(cudaGraphLaunch)(exec, stream); break;
      case 97: CALL(cudaEventCreateWithFlags)(&event, 2); break;
      case 98: CALL(cudaEventRecord)(event, stream); break;
      case 99: CALL(cudaStreamWaitEvent)(stream, event, 0); break;
      case 100: i % 2 ? CALL(cudaEventQuery)(event) : CALL(cudaStreamQuery)(stream); break;
      case 101: CALL(cudaEventSynchronize)(event); break;
      case 102: CALL(cudaEventDestroy)(event); break;
      case 103: CALL(cudaFreeAsync)((void *)TAKE(7), stream); break;
      case 104: if (CALL(cudaHostRegister)(OWN(i), bytes, 0) == 0) KEEP(6, OWN(i)); break;
      case 105: CALL(cudaHostUnregister)((void *)TAKE(6)); break;
      case 106: i % 2 ? CALL(hipInit)(i % 4 == 1) : CALL(hipSetDevice)(i % 3); break;
      case 107: if (CALL(hipMalloc)(&pointer, bytes) == 0) KEEP(8, pointer); break;
      case 108: if (CALL(hipMallocAsync)(&pointer, bytes, stream) == 0) KEEP(9, pointer); break;
      case 109: if (CALL(hipHostMalloc)(&pointer, bytes, 0) == 0) KEEP(10, pointer); break;
      case 110: CALL(hipMemcpy)(pointer, data, bytes, i % 4); break;
      case 111: i % 2 ? CALL(hipMemcpyHtoDAsync)(pointer, data, bytes, stream) : CALL(hipMemsetAsync)(pointer, 0, bytes, stream); break;
      case 112: i % 2 ? CALL(hipModuleLoadData)(&hip_module, data) : CALL(hipMalloc)(&pointer, 1ull << 41); break;
      case 113: CALL(hipModuleGetFunction)(&hip_function, hip_module, "rms_norm_f16"); break;
      case 114: CALL(hipModuleLaunchKernel)(hip_function, 70000 + i, 3, 2, 128, 2, 1, 48, stream, NULL, NULL); break;
      case 115: CALL(hipLaunchKernel)((const void *)&lerp_kernel, (dim3){i, 6, 7}, (dim3){64, 1, 4}, NULL, 48, stream); break;
      case 116: i % 2 ? CALL(hipStreamSynchronize)(stream) : CALL(hipDeviceSynchronize)(); break;
      case 117: CALL(hipFree)((void *)TAKE(8)); break;
      case 118: i % 2 ? CALL(hipFreeAsync)((void *)TAKE(9), stream) : CALL(hipHostFree)((void *)TAKE(10)); break;
      case 119: i % 2 ? CALL(createInferRuntime_INTERNAL)(data, 0) : CALL(createInferBuilder_INTERNAL)(data, 0); break;
      case 120: CALL(getInferLibVersion)(); break;
      default: call_level_zero(&zero, i, i / THREADS % (OTHERS + OF_LEVEL_ZERO) - OTHERS, data, bytes); break;
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 3) errx(2, "usage: calls FIRST LAST [PREFIX]");
  const int first = atoi(argv[1]), last = atoi(argv[2]), isChild = getenv("GPU_CHILD") != NULL;
  const int half = isChild ? last : first + (last - first) / 2;
  const char *go = isChild ? NULL : getenv("GPU_GO");
  if (go) {
    printf("ready\n");
    fflush(stdout);
    while (access(go, F_OK) != 0) usleep(10000);
  }
  open_libraries(argc > 3 ? argv[3] : "");
  pthread_t threads[THREADS];
  struct thread parts[THREADS];
  for (int i = 0; i < THREADS; i++) {
    parts[i] = (struct thread){first, half, i};
    if (pthread_create(&threads[i], NULL, run, &parts[i]) != 0) errx(1, "pthread_create");
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  if (isChild) return 0;
  const pid_t child = fork();
  if (child < 0) err(1, "fork");
  if (child == 0) {
    char from[16];
    snprintf(from, sizeof from, "%d", half);
    setenv("GPU_CHILD", "1", 1);
    execl(argv[0], argv[0], from, argv[2], argc > 3 ? argv[3] : NULL, NULL);
    err(1, "exec");
  }
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) errx(1, "the other process failed");
  return 0;
}
