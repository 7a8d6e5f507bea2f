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
#include <dlfcn.h>
#include <err.h>
#include <string.h>
#include <sys/wait.h>

#include "log.h"

enum { THREADS = 3, KEPT = 64 };

#define FUNCTIONS(F) \
  F(cuInit) F(cuDeviceGetCount) F(cuDeviceGet) F(cuDeviceGetAttribute) F(cuMemGetInfo_v2) F(cuCtxCreate_v2) F(cuCtxSetCurrent) F(cuModuleLoadData) \
  F(cuModuleGetFunction) F(cuMemAlloc_v2) F(cuMemAllocManaged) F(cuMemAllocAsync) F(cuMemAllocHost_v2) F(cuMemCreate) F(cuMemAddressReserve) \
  F(cuMemMap) F(cuMemFree_v2) F(cuMemFreeAsync) F(cuMemFreeHost) F(cuMemRelease) F(cuMemcpyHtoD_v2) F(cuMemcpyDtoH_v2) F(cuMemcpyDtoD_v2) \
  F(cuMemcpyHtoDAsync_v2) F(cuMemcpyDtoHAsync_v2) F(cuMemcpyPeerAsync) F(cuMemcpy) F(cuMemcpyAsync_ptsz) F(cuMemcpy2DAsync_v2) F(cuMemsetD32Async) \
  F(cuLaunchKernel) F(cuStreamBeginCapture_v2) F(cuStreamEndCapture) F(cuGraphInstantiateWithFlags) F(cuGraphLaunch) F(cuStreamCreate) \
  F(cuEventCreate) F(cuEventRecord) F(cuEventQuery) F(cuEventSynchronize) F(cuStreamSynchronize) F(cuCtxSynchronize) F(cudaGetDeviceCount) \
  F(cudaSetDevice) F(cudaMalloc) F(cudaFree) F(cudaMallocManaged) F(cudaHostAlloc) F(cudaFreeHost) F(cudaMemcpy) F(cudaMemcpyAsync) \
  F(cudaMemcpyPeerAsync) F(cudaMemcpy2DAsync) F(cudaMemset) F(cudaLaunchKernel) F(cudaStreamSynchronize) F(cudaDeviceSynchronize) \
  F(cudaGetLastError) F(__cudaLaunchKernel) F(ncclGetUniqueId) F(ncclCommInitRank) F(ncclAllReduce) F(ncclAllGather) F(ncclReduce) F(ncclSend)


CUresult cuInit(unsigned);
CUresult cuDeviceGetCount(int *);
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuDeviceGetAttribute(int *, int, CUdevice);
CUresult cuMemGetInfo_v2(size_t *, size_t *);
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream);
CUresult cuMemAllocHost_v2(void **, size_t);
CUresult cuMemCreate(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
CUresult cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuMemFreeHost(void *);
CUresult cuMemRelease(CUmemGenericAllocationHandle);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, CUstream);
CUresult cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpyAsync_ptsz(CUdeviceptr, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *, CUstream);
CUresult cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuStreamBeginCapture_v2(CUstream, int);
CUresult cuStreamEndCapture(CUstream, CUgraph *);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuStreamCreate(CUstream *, unsigned);
CUresult cuEventCreate(CUevent *, unsigned);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventQuery(CUevent);
CUresult cuEventSynchronize(CUevent);
CUresult cuStreamSynchronize(CUstream);
CUresult cuCtxSynchronize(void);
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMallocManaged(void **, size_t, unsigned);
cudaError_t cudaHostAlloc(void **, size_t, unsigned);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, int);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, int, CUstream);
cudaError_t cudaMemcpyPeerAsync(void *, int, const void *, int, size_t, CUstream);
cudaError_t cudaMemcpy2DAsync(void *, size_t, const void *, size_t, size_t, size_t, int, CUstream);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, CUstream);
cudaError_t __cudaLaunchKernel(CUkernel, dim3, dim3, void **, size_t, CUstream);
cudaError_t cudaStreamSynchronize(CUstream);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
ncclResult_t ncclGetUniqueId(ncclUniqueId *);
ncclResult_t ncclCommInitRank(ncclComm_t *, int, ncclUniqueId, int);
ncclResult_t ncclAllReduce(const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, CUstream);
ncclResult_t ncclAllGather(const void *, void *, size_t, ncclDataType_t, ncclComm_t, CUstream);
ncclResult_t ncclReduce(const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t, CUstream);
ncclResult_t ncclSend(const void *, size_t, ncclDataType_t, int, ncclComm_t, CUstream);

#ifdef OPENED
#define POINTER(name) static __typeof__(name) *call_##name;
FUNCTIONS(POINTER)
#define CALL(name) call_##name

static void *opened(const char *prefix, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s", prefix, name);
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) errx(1, "%s", dlerror());
  return library;
}

static void open_libraries(const char *prefix) {
  void *libraries[] = {opened(prefix, "libcuda.so.1"), opened(prefix, "libcudart.so.12"), opened(prefix, "libnccl.so.2")};
#define FIND(name) \
  for (int i = 0; i < 3 && !call_##name; i++) call_##name = (__typeof__(name) *)dlsym(libraries[i], #name);
  FUNCTIONS(FIND)
}
#else
#define CALL(name) name
static void open_libraries(const char *prefix) { (void)prefix; }
#endif

/* What runs on a GPU, by the name that the runtime knows it by. */
__attribute__((noinline)) void scaled_add_kernel(void) { __asm__ volatile(""); }

/* What nvcc makes of another one since CUDA 13. */
__attribute__((noinline)) static void __device_stub__Z12clamp_kernelPf(int i, CUstream stream) {
  CALL(__cudaLaunchKernel)((CUkernel)0x77, (dim3){i, 4, 5}, (dim3){32, 2, 1}, NULL, 48, stream);
}

struct thread {
  int first, last, number;
};

static void *run(void *argument) {
  const struct thread *thread = argument;
  uint64_t kept[6][KEPT];
  int count[6] = {0};
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUfunction function = NULL;
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
  CUdeviceptr device = 0;
#define LONG_NAME "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIhEESt5arrayIPcLm1EEEEviT0_T1_"
#define KEEP(kind, address) (count[kind] < KEPT ? (void)(kept[kind][count[kind]++] = (uint64_t)(address)) : (void)0)
#define TAKE(kind) (count[kind] > 0 ? kept[kind][--count[kind]] : 0)
  for (int i = thread->first; i < thread->last; i++) {
    if (i % THREADS != thread->number) continue;
    const size_t bytes = 512 + 1009 * (size_t)i;
    /* Not i % 62, which would always be the same in a thread whose number divides it. */
    switch (i / THREADS % 62) {
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
      case 15: CALL(cuMemAddressReserve)(&device, bytes, 0, 0, 0); break;
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
      default: CALL(ncclReduce)(data, data, bytes, 7, 0, 1, comm, stream); break;
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
