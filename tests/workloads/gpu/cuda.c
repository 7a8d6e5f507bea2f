/* A stand-in for CUDA's driver: see log.h. */
#include "log.h"

KEEPS_BOOK("cuda")

EXPORTED CUresult cuInit(unsigned flags) {
  NOTE("cuInit", flags ? 1 : 0, "");
  return flags ? 1 : 0;
}
EXPORTED CUresult cuDeviceGetCount(int *count) {
  *count = 2;
  NOTE("cuDeviceGetCount", 0, "");
  return 0;
}
EXPORTED CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  NOTE("cuDeviceGet", 0, ",\"device\":%d,\"ordinal\":%d", ordinal, ordinal);
  return 0;
}
EXPORTED CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  *value = attribute + device;
  NOTE("cuDeviceGetAttribute", 0, "");
  return 0;
}
EXPORTED CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = 1ull << 33, *total = 1ull << 34;
  NOTE("cuMemGetInfo", 0, "");
  return 0;
}
EXPORTED CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
  *context = (CUcontext)fresh(flags);
  NOTE("cuCtxCreate", 0, ",\"context\":\"%p\",\"device\":%d", (void *)*context, device);
  return 0;
}
EXPORTED CUresult cuCtxSetCurrent(CUcontext context) {
  NOTE("cuCtxSetCurrent", 0, ",\"context\":\"%p\"", (void *)context);
  return 0;
}
EXPORTED CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  (void)image;
  *module = (CUmodule)fresh(0);
  NOTE("cuModuleLoadData", 0, ",\"module\":\"%p\"", (void *)*module);
  return 0;
}
EXPORTED CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  *context = (CUcontext)(FIRST_ADDRESS - 512 * (1 + (long)device));
  NOTE("cuDevicePrimaryCtxRetain", 0, ",\"context\":\"%p\",\"device\":%d", (void *)*context, device);
  return 0;
}
EXPORTED CUresult cuLibraryLoadData(CUlibrary *library, const void *code, int *options, void **values, unsigned count, int *library_options,
                                    void **library_values, unsigned library_count) {
  (void)code, (void)options, (void)values, (void)count, (void)library_options, (void)library_values;
  *library = (CUlibrary)fresh(library_count);
  NOTE("cuLibraryLoadData", 0, ",\"module\":\"%p\"", (void *)*library);
  return 0;
}
EXPORTED CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  (void)library;
  *kernel = (CUkernel)fresh(0);
  NOTE("cuLibraryGetKernel", 0, ",\"function\":\"%p\",\"name\":\"%s\"", (void *)*kernel, name);
  return 0;
}
EXPORTED CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  *function = (CUfunction)fresh(0);
  NOTE("cuKernelGetFunction", 0, ",\"function\":\"%p\",\"kernel\":\"%p\"", (void *)*function, (void *)kernel);
  return 0;
}
EXPORTED CUresult cuKernelGetName(const char **name, CUkernel kernel) {
  *name = "argmax_f32";
  NOTE("cuKernelGetName", 0, ",\"function\":\"%p\",\"name\":\"%s\"", (void *)kernel, *name);
  return 0;
}
EXPORTED CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  (void)module;
  *function = (CUfunction)fresh(0);
  NOTE("cuModuleGetFunction", 0, ",\"function\":\"%p\",\"name\":\"%s\"", (void *)*function, name);
  return 0;
}

static CUresult allocated(const char *name, uint64_t *address, uint64_t bytes, const char *more) {
  const CUresult result = too_large(bytes) ? 2 : 0;
  *address = result ? 0 : fresh(bytes);
  note("\"func\":\"%s\",\"ret\":%d,\"address\":\"0x%llx\",\"bytes\":%llu%s", name, result, (unsigned long long)*address, (unsigned long long)bytes, more);
  return result;
}
EXPORTED CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) { return allocated("cuMemAlloc", (uint64_t *)address, bytes, ",\"memory\":\"device\""); }
EXPORTED CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
  (void)flags;
  return allocated("cuMemAllocManaged", (uint64_t *)address, bytes, ",\"memory\":\"managed\"");
}
static CUresult pooled(const char *name, CUdeviceptr *address, size_t bytes, CUstream stream) {
  char more[64];
  sprintf(more, ",\"memory\":\"pooled\",\"stream\":\"0x%lx\"", (long)stream);
  return allocated(name, (uint64_t *)address, bytes, more);
}
EXPORTED CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) { return pooled("cuMemAllocAsync", address, bytes, stream); }
EXPORTED CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  (void)pool;
  return pooled("cuMemAllocFromPoolAsync", address, bytes, stream);
}
EXPORTED CUresult cuMemAllocHost_v2(void **address, size_t bytes) { return allocated("cuMemAllocHost", (uint64_t *)address, bytes, ",\"memory\":\"host\""); }
EXPORTED CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *where, unsigned long long flags) {
  (void)flags;
  char more[64];
  sprintf(more, ",\"memory\":\"physical\",\"device\":%d", where->location.type == 1 ? where->location.id : -1);
  return allocated("cuMemCreate", (uint64_t *)handle, bytes, more);
}
EXPORTED CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr at, unsigned long long flags) {
  (void)alignment, (void)at, (void)flags;
  return allocated("cuMemAddressReserve", (uint64_t *)address, bytes, "");
}
EXPORTED CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
  *pitch = width + element;
  return allocated("cuMemAllocPitch", (uint64_t *)address, width * height, ",\"memory\":\"device\"");
}
EXPORTED CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
  (void)flags;
  NOTE("cuMemHostRegister", 0, ",\"address\":\"%p\",\"bytes\":%zu,\"memory\":\"registered\"", address, bytes);
  return 0;
}
EXPORTED CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  NOTE("cuMemUnmap", 0, ",\"address\":\"0x%llx\",\"bytes\":%zu", address, bytes);
  return 0;
}
EXPORTED CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  NOTE("cuMemAddressFree", 0, ",\"address\":\"0x%llx\",\"bytes\":%zu", address, bytes);
  return 0;
}
EXPORTED CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  (void)device;
  NOTE("cuMemPrefetchAsync", 0, ",\"address\":\"0x%llx\",\"bytes\":%zu,\"stream\":\"0x%lx\"", address, bytes, (long)stream);
  return 0;
}
EXPORTED CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) {
  (void)offset, (void)handle, (void)flags;
  NOTE("cuMemMap", 0, ",\"address\":\"0x%llx\",\"bytes\":%zu", address, bytes);
  return 0;
}
EXPORTED CUresult cuMemFree_v2(CUdeviceptr address) {
  NOTE("cuMemFree", 0, ",\"address\":\"0x%llx\"", address);
  return 0;
}
EXPORTED CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  NOTE("cuMemFreeAsync", 0, ",\"address\":\"0x%llx\",\"stream\":\"0x%lx\"", address, (long)stream);
  return 0;
}
EXPORTED CUresult cuMemFreeHost(void *address) {
  NOTE("cuMemFreeHost", 0, ",\"address\":\"%p\"", address);
  return 0;
}
EXPORTED CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  NOTE("cuMemRelease", 0, ",\"address\":\"0x%llx\"", handle);
  return 0;
}

#define COPY(name, exported, direction, to_type, from_type) \
  EXPORTED CUresult exported(to_type to, from_type from, size_t bytes) { \
    NOTE(name, bytes ? 0 : 1, ",\"to\":\"0x%llx\",\"from\":\"0x%llx\",\"bytes\":%zu,\"direction\":\"" direction "\"", (unsigned long long)to, \
         (unsigned long long)from, bytes); \
    return bytes ? 0 : 1; \
  }
#define COPY_LATER(name, exported, direction, to_type, from_type) \
  EXPORTED CUresult exported(to_type to, from_type from, size_t bytes, CUstream stream) { \
    NOTE(name, 0, ",\"to\":\"0x%llx\",\"from\":\"0x%llx\",\"bytes\":%zu,\"direction\":\"" direction "\",\"stream\":\"0x%lx\"", (unsigned long long)to, \
         (unsigned long long)from, bytes, (long)stream); \
    return 0; \
  }
COPY("cuMemcpyHtoD", cuMemcpyHtoD_v2, "host to device", CUdeviceptr, const void *)
COPY("cuMemcpyDtoH", cuMemcpyDtoH_v2, "device to host", void *, CUdeviceptr)
COPY("cuMemcpyDtoD", cuMemcpyDtoD_v2, "on the device", CUdeviceptr, CUdeviceptr)
COPY_LATER("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2, "host to device", CUdeviceptr, const void *)
COPY_LATER("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2, "device to host", void *, CUdeviceptr)
EXPORTED CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, CUstream stream) {
  (void)to_context, (void)from_context;
  NOTE("cuMemcpyPeerAsync", 0, ",\"to\":\"0x%llx\",\"from\":\"0x%llx\",\"bytes\":%zu,\"direction\":\"between devices\",\"stream\":\"0x%lx\"", to, from, bytes,
       (long)stream);
  return 0;
}
/* Between memory that this driver gave out and memory of the program, which it did not. */
COPY("cuMemcpy", cuMemcpy, "host to device", CUdeviceptr, CUdeviceptr)
COPY_LATER("cuMemcpyAsync", cuMemcpyAsync_ptsz, "device to host", CUdeviceptr, CUdeviceptr)

static const char *between(int from, int to) { return from == 1 ? "host to device" : to == 1 ? "device to host" : "on the device"; }
EXPORTED CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream) {
  const size_t bytes = copy->WidthInBytes * copy->Height;
  NOTE("cuMemcpy2DAsync", 0, ",\"bytes\":%zu,\"direction\":\"%s\",\"stream\":\"0x%lx\"", bytes, between(copy->srcMemoryType, copy->dstMemoryType),
       (long)stream);
  return 0;
}
EXPORTED CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream) {
  const size_t bytes = copy->WidthInBytes * copy->Height * copy->Depth;
  NOTE("cuMemcpy3DAsync", 0, ",\"bytes\":%zu,\"direction\":\"%s\",\"stream\":\"0x%lx\"", bytes, between(copy->srcMemoryType, copy->dstMemoryType),
       (long)stream);
  return 0;
}
EXPORTED CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t count) {
  (void)value;
  NOTE("cuMemsetD8", 0, ",\"address\":\"0x%llx\",\"bytes\":%zu", address, count);
  return 0;
}
EXPORTED CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream) {
  (void)value;
  NOTE("cuMemsetD8Async", 0, ",\"address\":\"0x%llx\",\"bytes\":%zu,\"stream\":\"0x%lx\"", address, count, (long)stream);
  return 0;
}
EXPORTED CUresult cuMemsetD2D16Async(CUdeviceptr address, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream) {
  (void)pitch, (void)value;
  NOTE("cuMemsetD2D16Async", 0, ",\"address\":\"0x%llx\",\"bytes\":%zu,\"stream\":\"0x%lx\"", address, 2 * width * height, (long)stream);
  return 0;
}
EXPORTED CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, size_t count, CUstream stream) {
  (void)value;
  NOTE("cuMemsetD32Async", 0, ",\"address\":\"0x%llx\",\"bytes\":%zu,\"stream\":\"0x%lx\"", address, 4 * count, (long)stream);
  return 0;
}
#define LAUNCHED ",\"function\":\"%p\",\"grid\":\"%u×%u×%u\",\"block\":\"%u×%u×%u\",\"stream\":\"0x%lx\""
EXPORTED CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                 CUstream stream, void **parameters, void **extra) {
  (void)shared, (void)parameters, (void)extra;
  NOTE("cuLaunchKernel", 0, LAUNCHED, (void *)function, gx, gy, gz, bx, by, bz, (long)stream);
  return 0;
}
EXPORTED CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                            unsigned shared, CUstream stream, void **parameters) {
  (void)shared, (void)parameters;
  NOTE("cuLaunchCooperativeKernel", 0, LAUNCHED, (void *)function, gx, gy, gz, bx, by, bz, (long)stream);
  return 0;
}
EXPORTED CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
  (void)parameters, (void)extra;
  NOTE("cuLaunchKernelEx", 0, LAUNCHED, (void *)function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY,
       config->blockDimZ, (long)config->hStream);
  return 0;
}
EXPORTED CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  (void)mode;
  NOTE("cuStreamBeginCapture", 0, ",\"stream\":\"0x%lx\"", (long)stream);
  return 0;
}
EXPORTED CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  *graph = (CUgraph)fresh(0);
  NOTE("cuStreamEndCapture", 0, ",\"graph\":\"%p\",\"stream\":\"0x%lx\"", (void *)*graph, (long)stream);
  return 0;
}
EXPORTED CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  *exec = (CUgraphExec)fresh(flags);
  NOTE("cuGraphInstantiateWithFlags", 0, ",\"exec\":\"%p\",\"graph\":\"%p\"", (void *)*exec, (void *)graph);
  return 0;
}
EXPORTED CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  NOTE("cuGraphLaunch", 0, ",\"exec\":\"%p\",\"stream\":\"0x%lx\"", (void *)exec, (long)stream);
  return 0;
}
EXPORTED CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  *stream = (CUstream)fresh(flags);
  NOTE("cuStreamCreate", 0, ",\"stream\":\"%p\"", (void *)*stream);
  return 0;
}
EXPORTED CUresult cuStreamQuery(CUstream stream) {
  NOTE("cuStreamQuery", 0, ",\"stream\":\"0x%lx\"", (long)stream);
  return 0;
}
EXPORTED CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  (void)flags;
  NOTE("cuStreamWaitEvent", 0, ",\"event\":\"%p\",\"stream\":\"0x%lx\"", (void *)event, (long)stream);
  return 0;
}
EXPORTED CUresult cuEventCreate(CUevent *event, unsigned flags) {
  *event = (CUevent)fresh(flags);
  NOTE("cuEventCreate", 0, ",\"event\":\"%p\"", (void *)*event);
  return 0;
}
EXPORTED CUresult cuEventRecord(CUevent event, CUstream stream) {
  NOTE("cuEventRecord", 0, ",\"event\":\"%p\",\"stream\":\"0x%lx\"", (void *)event, (long)stream);
  return 0;
}
EXPORTED CUresult cuEventQuery(CUevent event) {
  NOTE("cuEventQuery", 600, ",\"event\":\"%p\"", (void *)event);
  return 600;
}
EXPORTED CUresult cuEventSynchronize(CUevent event) {
  NOTE("cuEventSynchronize", 0, ",\"event\":\"%p\"", (void *)event);
  return 0;
}
EXPORTED CUresult cuStreamSynchronize(CUstream stream) {
  while (stream == NEVER) pause();
  NOTE("cuStreamSynchronize", 0, ",\"stream\":\"0x%lx\"", (long)stream);
  return 0;
}
EXPORTED CUresult cuCtxSynchronize(void) {
  NOTE("cuCtxSynchronize", 0, "");
  return 0;
}

#define ENDS(name, exported, type, word) \
  EXPORTED CUresult exported(type what) { \
    NOTE(name, 0, ",\"" word "\":\"%p\"", (void *)what); \
    return 0; \
  }
ENDS("cuMemHostUnregister", cuMemHostUnregister, void *, "address")
ENDS("cuGraphDestroy", cuGraphDestroy, CUgraph, "graph")
ENDS("cuStreamDestroy", cuStreamDestroy_v2, CUstream, "stream")
ENDS("cuEventDestroy", cuEventDestroy_v2, CUevent, "event")
