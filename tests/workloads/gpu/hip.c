/* A stand-in for HIP, whose one library is runtime and driver: see log.h. */
#define FIRST_ADDRESS 0x730000000000
#include "log.h"

KEEPS_BOOK("hip")

static const char *const directions[] = {"on the host", "host to device", "device to host", "on the device"};

EXPORTED hipError_t hipInit(unsigned flags) {
  NOTE("hipInit", flags ? 1 : 0, "");
  return flags ? 1 : 0;
}
EXPORTED hipError_t hipSetDevice(int device) {
  NOTE("hipSetDevice", device < 2 ? 0 : 101, ",\"device\":%d", device);
  return device < 2 ? 0 : 101;
}

static hipError_t allocated(const char *name, void **address, size_t bytes, const char *memory, const char *more) {
  const hipError_t result = too_large(bytes) ? 2 : 0;
  *address = result ? NULL : (void *)fresh(bytes);
  note("\"func\":\"%s\",\"ret\":%d,\"address\":\"%p\",\"bytes\":%zu,\"memory\":\"%s\"%s", name, result, *address, bytes, memory, more);
  return result;
}
EXPORTED hipError_t hipMalloc(void **address, size_t bytes) { return allocated("hipMalloc", address, bytes, "device", ""); }
EXPORTED hipError_t hipMallocAsync(void **address, size_t bytes, hipStream_t stream) {
  char more[64];
  sprintf(more, ",\"stream\":\"0x%lx\"", (long)stream);
  return allocated("hipMallocAsync", address, bytes, "pooled", more);
}
EXPORTED hipError_t hipHostMalloc(void **address, size_t bytes, unsigned flags) {
  (void)flags;
  return allocated("hipHostMalloc", address, bytes, "host", "");
}
EXPORTED hipError_t hipFree(void *address) {
  NOTE("hipFree", 0, ",\"address\":\"%p\"", address);
  return 0;
}
EXPORTED hipError_t hipFreeAsync(void *address, hipStream_t stream) {
  NOTE("hipFreeAsync", 0, ",\"address\":\"%p\",\"stream\":\"0x%lx\"", address, (long)stream);
  return 0;
}
EXPORTED hipError_t hipHostFree(void *address) {
  NOTE("hipHostFree", 0, ",\"address\":\"%p\"", address);
  return 0;
}
EXPORTED hipError_t hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
  NOTE("hipMemcpy", 0, ",\"to\":\"%p\",\"from\":\"%p\",\"bytes\":%zu,\"direction\":\"%s\"", to, from, bytes, directions[kind]);
  return 0;
}
EXPORTED hipError_t hipMemcpyHtoDAsync(void *to, const void *from, size_t bytes, hipStream_t stream) {
  NOTE("hipMemcpyHtoDAsync", 0, ",\"to\":\"%p\",\"from\":\"%p\",\"bytes\":%zu,\"direction\":\"host to device\",\"stream\":\"0x%lx\"", to, from, bytes,
       (long)stream);
  return 0;
}
EXPORTED hipError_t hipMemsetAsync(void *address, int value, size_t bytes, hipStream_t stream) {
  (void)value;
  NOTE("hipMemsetAsync", 0, ",\"address\":\"%p\",\"bytes\":%zu,\"stream\":\"0x%lx\"", address, bytes, (long)stream);
  return 0;
}

#define LAUNCHED ",\"function\":\"%p\",\"grid\":\"%u×%u×%u\",\"block\":\"%u×%u×%u\",\"stream\":\"0x%lx\""
EXPORTED hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **parameters, size_t shared, hipStream_t stream) {
  (void)parameters, (void)shared;
  NOTE("hipLaunchKernel", 0, LAUNCHED, function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (long)stream);
  return 0;
}
EXPORTED hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  (void)image;
  *module = (hipModule_t)fresh(0);
  NOTE("hipModuleLoadData", 0, ",\"module\":\"%p\"", (void *)*module);
  return 0;
}
EXPORTED hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  (void)module;
  *function = (hipFunction_t)fresh(0);
  NOTE("hipModuleGetFunction", 0, ",\"function\":\"%p\",\"name\":\"%s\"", (void *)*function, name);
  return 0;
}
EXPORTED hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                          unsigned shared, hipStream_t stream, void **parameters, void **extra) {
  (void)shared, (void)parameters, (void)extra;
  NOTE("hipModuleLaunchKernel", 0, LAUNCHED, (void *)function, gx, gy, gz, bx, by, bz, (long)stream);
  return 0;
}
EXPORTED hipError_t hipStreamSynchronize(hipStream_t stream) {
  NOTE("hipStreamSynchronize", 0, ",\"stream\":\"0x%lx\"", (long)stream);
  return 0;
}
EXPORTED hipError_t hipDeviceSynchronize(void) {
  NOTE("hipDeviceSynchronize", 0, "");
  return 0;
}
