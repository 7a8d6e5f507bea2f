/* What calls.c calls, as the libraries' own headers declare it; and how: CALL(name), of libraries that were linked or are opened (OPENED). */
#include <dlfcn.h>
#include <err.h>

#include "log.h"

#define FUNCTIONS(F) \
  F(cuInit) F(cuDeviceGetCount) F(cuDeviceGet) F(cuDeviceGetAttribute) F(cuMemGetInfo_v2) F(cuCtxCreate_v2) F(cuCtxSetCurrent) F(cuModuleLoadData) \
  F(cuModuleGetFunction) F(cuMemAlloc_v2) F(cuMemAllocManaged) F(cuMemAllocAsync) F(cuMemAllocHost_v2) F(cuMemCreate) F(cuMemAddressReserve) \
  F(cuMemMap) F(cuMemFree_v2) F(cuMemFreeAsync) F(cuMemFreeHost) F(cuMemRelease) F(cuMemcpyHtoD_v2) F(cuMemcpyDtoH_v2) F(cuMemcpyDtoD_v2) \
  F(cuMemcpyHtoDAsync_v2) F(cuMemcpyDtoHAsync_v2) F(cuMemcpyPeerAsync) F(cuMemcpy) F(cuMemcpyAsync_ptsz) F(cuMemcpy2DAsync_v2) F(cuMemsetD32Async) \
  F(cuLaunchKernel) F(cuStreamBeginCapture_v2) F(cuStreamEndCapture) F(cuGraphInstantiateWithFlags) F(cuGraphLaunch) F(cuStreamCreate) \
  F(cuEventCreate) F(cuEventRecord) F(cuEventQuery) F(cuEventSynchronize) F(cuStreamSynchronize) F(cuCtxSynchronize) F(cudaGetDeviceCount) \
  F(cudaSetDevice) F(cudaMalloc) F(cudaFree) F(cudaMallocManaged) F(cudaHostAlloc) F(cudaFreeHost) F(cudaMemcpy) F(cudaMemcpyAsync) \
  F(cudaMemcpyPeerAsync) F(cudaMemcpy2DAsync) F(cudaMemset) F(cudaLaunchKernel) F(cudaStreamSynchronize) F(cudaDeviceSynchronize) \
  F(cudaGetLastError) F(__cudaLaunchKernel) F(ncclGetUniqueId) F(ncclCommInitRank) F(ncclAllReduce) F(ncclAllGather) F(ncclReduce) F(ncclSend) F(ncclPutSignal) \
  F(cuMemAllocPitch_v2) F(cuMemAllocFromPoolAsync) F(cuMemHostRegister_v2) F(cuMemHostUnregister) F(cuMemUnmap) F(cuMemAddressFree) F(cuMemPrefetchAsync) \
  F(cuMemsetD8_v2) F(cuMemsetD8Async) F(cuMemsetD2D16Async) F(cuMemcpy3DAsync_v2) F(cuLaunchKernelEx) F(cuLaunchCooperativeKernel) F(cuStreamQuery) \
  F(cuStreamWaitEvent) F(cuStreamDestroy_v2) F(cuEventDestroy_v2) F(cuDevicePrimaryCtxRetain) F(cuLibraryLoadData) F(cuLibraryGetKernel) \
  F(cuKernelGetFunction) F(cuKernelGetName) F(cuGraphDestroy) F(cudaMallocAsync) F(cudaFreeAsync) F(cudaHostRegister) F(cudaHostUnregister) F(cudaMemcpy3DAsync) \
  F(cudaMemsetAsync) F(cudaLaunchKernelExC) F(cudaStreamCreateWithFlags) F(cudaStreamQuery) F(cudaStreamWaitEvent) F(cudaStreamBeginCapture) \
  F(cudaStreamEndCapture) F(cudaGraphInstantiate) F(cudaGraphLaunch) F(cudaGraphDestroy) F(cudaEventCreateWithFlags) F(cudaEventRecord) F(cudaEventQuery) \
  F(cudaEventSynchronize) F(cudaEventDestroy) F(ncclGroupStart) F(ncclGroupEnd) F(ncclBroadcast) F(ncclReduceScatter) F(ncclRecv) F(hipInit) \
  F(hipSetDevice) F(hipMalloc) F(hipMallocAsync) F(hipHostMalloc) F(hipFree) F(hipFreeAsync) F(hipHostFree) F(hipMemcpy) F(hipMemcpyHtoDAsync) \
  F(hipMemsetAsync) F(hipLaunchKernel) F(hipModuleLoadData) F(hipModuleGetFunction) F(hipModuleLaunchKernel) F(hipStreamSynchronize) \
  F(hipDeviceSynchronize) F(createInferRuntime_INTERNAL) F(createInferBuilder_INTERNAL) F(getInferLibVersion) F(zeInit) F(zeDriverGet) \
  F(zeDeviceGet) F(zeContextCreate) F(zeCommandQueueCreate) F(zeCommandListCreate) F(zeCommandListCreateImmediate) F(zeCommandListClose) \
  F(zeModuleCreate) F(zeKernelCreate) F(zeMemAllocDevice) F(zeMemAllocHost) F(zeMemAllocShared) F(zeMemFree) F(zePhysicalMemCreate) \
  F(zePhysicalMemDestroy) F(zeVirtualMemReserve) F(zeVirtualMemFree) F(zeCommandListAppendMemoryCopy) F(zeCommandListAppendMemoryCopyRegion) \
  F(zeCommandListAppendMemoryFill) F(zeCommandListAppendMemoryPrefetch) F(zeCommandListAppendLaunchKernel) \
  F(zeCommandListAppendLaunchCooperativeKernel) F(zeCommandListAppendLaunchKernelWithArguments) F(zeEventCreate) F(zeCommandListAppendBarrier) \
  F(zeCommandListAppendSignalEvent) F(zeEventQueryStatus) F(zeEventHostSynchronize) F(zeCommandQueueExecuteCommandLists) \
  F(zeCommandQueueSynchronize) F(zeCommandListHostSynchronize) F(zeFenceHostSynchronize)

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
ncclResult_t ncclPutSignal(const void *, size_t, ncclDataType_t, int, void *, size_t, int, int, unsigned, ncclComm_t, CUstream);
ncclResult_t ncclSend(const void *, size_t, ncclDataType_t, int, ncclComm_t, CUstream);
CUresult cuMemAllocPitch_v2(CUdeviceptr *, size_t *, size_t, size_t, unsigned);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *, size_t, CUmemoryPool, CUstream);
CUresult cuMemHostRegister_v2(void *, size_t, unsigned);
CUresult cuMemHostUnregister(void *);
CUresult cuMemUnmap(CUdeviceptr, size_t);
CUresult cuMemAddressFree(CUdeviceptr, size_t);
CUresult cuMemPrefetchAsync(CUdeviceptr, size_t, CUdevice, CUstream);
CUresult cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, CUstream);
CUresult cuMemsetD2D16Async(CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *, CUstream);
CUresult cuLaunchKernelEx(const CUlaunchConfig *, CUfunction, void **, void **);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **);
CUresult cuStreamQuery(CUstream);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuEventDestroy_v2(CUevent);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuLibraryLoadData(CUlibrary *, const void *, int *, void **, unsigned, int *, void **, unsigned);
CUresult cuLibraryGetKernel(CUkernel *, CUlibrary, const char *);
CUresult cuKernelGetName(const char **, CUkernel);
CUresult cuKernelGetFunction(CUfunction *, CUkernel);
CUresult cuGraphDestroy(CUgraph);
cudaError_t cudaMallocAsync(void **, size_t, CUstream);
cudaError_t cudaFreeAsync(void *, CUstream);
cudaError_t cudaHostRegister(void *, size_t, unsigned);
cudaError_t cudaHostUnregister(void *);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *, CUstream);
cudaError_t cudaMemsetAsync(void *, int, size_t, CUstream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t cudaStreamCreateWithFlags(CUstream *, unsigned);
cudaError_t cudaStreamQuery(CUstream);
cudaError_t cudaStreamWaitEvent(CUstream, CUevent, unsigned);
cudaError_t cudaStreamBeginCapture(CUstream, int);
cudaError_t cudaStreamEndCapture(CUstream, CUgraph *);
cudaError_t cudaGraphInstantiate(CUgraphExec *, CUgraph, unsigned long long);
cudaError_t cudaGraphLaunch(CUgraphExec, CUstream);
cudaError_t cudaGraphDestroy(CUgraph);
cudaError_t cudaEventCreateWithFlags(CUevent *, unsigned);
cudaError_t cudaEventRecord(CUevent, CUstream);
cudaError_t cudaEventQuery(CUevent);
cudaError_t cudaEventSynchronize(CUevent);
cudaError_t cudaEventDestroy(CUevent);
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
ncclResult_t ncclBroadcast(const void *, void *, size_t, ncclDataType_t, int, ncclComm_t, CUstream);
ncclResult_t ncclReduceScatter(const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, CUstream);
ncclResult_t ncclRecv(void *, size_t, ncclDataType_t, int, ncclComm_t, CUstream);
hipError_t hipInit(unsigned);
hipError_t hipSetDevice(int);
hipError_t hipMalloc(void **, size_t);
hipError_t hipMallocAsync(void **, size_t, hipStream_t);
hipError_t hipHostMalloc(void **, size_t, unsigned);
hipError_t hipFree(void *);
hipError_t hipFreeAsync(void *, hipStream_t);
hipError_t hipHostFree(void *);
hipError_t hipMemcpy(void *, const void *, size_t, int);
hipError_t hipMemcpyHtoDAsync(void *, const void *, size_t, hipStream_t);
hipError_t hipMemsetAsync(void *, int, size_t, hipStream_t);
hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, size_t, hipStream_t);
hipError_t hipModuleLoadData(hipModule_t *, const void *);
hipError_t hipModuleGetFunction(hipFunction_t *, hipModule_t, const char *);
hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t, void **, void **);
hipError_t hipStreamSynchronize(hipStream_t);
hipError_t hipDeviceSynchronize(void);
void *createInferRuntime_INTERNAL(void *, int32_t);
void *createInferBuilder_INTERNAL(void *, int32_t);
int32_t getInferLibVersion(void);
ze_result_t zeInit(unsigned);
ze_result_t zeDriverGet(uint32_t *, ze_driver_handle_t *);
ze_result_t zeDeviceGet(ze_driver_handle_t, uint32_t *, ze_device_handle_t *);
ze_result_t zeContextCreate(ze_driver_handle_t, const ze_desc_t *, ze_context_handle_t *);
ze_result_t zeCommandQueueCreate(ze_context_handle_t, ze_device_handle_t, const ze_desc_t *, ze_command_queue_handle_t *);
ze_result_t zeCommandListCreate(ze_context_handle_t, ze_device_handle_t, const ze_desc_t *, ze_command_list_handle_t *);
ze_result_t zeCommandListCreateImmediate(ze_context_handle_t, ze_device_handle_t, const ze_desc_t *, ze_command_list_handle_t *);
ze_result_t zeCommandListClose(ze_command_list_handle_t);
ze_result_t zeModuleCreate(ze_context_handle_t, ze_device_handle_t, const void *, ze_module_handle_t *, ze_module_build_log_handle_t *);
ze_result_t zeKernelCreate(ze_module_handle_t, const ze_desc_t *, ze_kernel_handle_t *);
ze_result_t zeMemAllocDevice(ze_context_handle_t, const ze_desc_t *, size_t, size_t, ze_device_handle_t, void **);
ze_result_t zeMemAllocHost(ze_context_handle_t, const ze_desc_t *, size_t, size_t, void **);
ze_result_t zeMemAllocShared(ze_context_handle_t, const ze_desc_t *, const ze_desc_t *, size_t, size_t, ze_device_handle_t, void **);
ze_result_t zeMemFree(ze_context_handle_t, void *);
ze_result_t zePhysicalMemCreate(ze_context_handle_t, ze_device_handle_t, ze_desc_t *, ze_physical_mem_handle_t *);
ze_result_t zePhysicalMemDestroy(ze_context_handle_t, ze_physical_mem_handle_t);
ze_result_t zeVirtualMemReserve(ze_context_handle_t, const void *, size_t, void **);
ze_result_t zeVirtualMemFree(ze_context_handle_t, const void *, size_t);
ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t, void *, const void *, size_t, ze_event_handle_t, uint32_t, ze_event_handle_t *);
ze_result_t zeCommandListAppendMemoryCopyRegion(ze_command_list_handle_t, void *, const ze_copy_region_t *, uint32_t, uint32_t, const void *,
                                                const ze_copy_region_t *, uint32_t, uint32_t, ze_event_handle_t, uint32_t, ze_event_handle_t *);
ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t, void *, const void *, size_t, size_t, ze_event_handle_t, uint32_t,
                                          ze_event_handle_t *);
ze_result_t zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t, const void *, size_t);
ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t, ze_kernel_handle_t, const ze_group_count_t *, ze_event_handle_t, uint32_t,
                                            ze_event_handle_t *);
ze_result_t zeCommandListAppendLaunchCooperativeKernel(ze_command_list_handle_t, ze_kernel_handle_t, const ze_group_count_t *, ze_event_handle_t,
                                                       uint32_t, ze_event_handle_t *);
ze_result_t zeCommandListAppendLaunchKernelWithArguments(ze_command_list_handle_t, ze_kernel_handle_t, const ze_group_count_t, const ze_group_size_t,
                                                         void **, const void *, ze_event_handle_t, uint32_t, ze_event_handle_t *);
ze_result_t zeEventCreate(ze_event_pool_handle_t, const ze_desc_t *, ze_event_handle_t *);
ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t, ze_event_handle_t, uint32_t, ze_event_handle_t *);
ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t, ze_event_handle_t);
ze_result_t zeEventQueryStatus(ze_event_handle_t);
ze_result_t zeEventHostSynchronize(ze_event_handle_t, uint64_t);
ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t, uint32_t, ze_command_list_handle_t *, ze_fence_handle_t);
ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t, uint64_t);
ze_result_t zeCommandListHostSynchronize(ze_command_list_handle_t, uint64_t);
ze_result_t zeFenceHostSynchronize(ze_fence_handle_t, uint64_t);

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
  void *libraries[] = {opened(prefix, "libcuda.so.1"), opened(prefix, "libcudart.so.12"), opened(prefix, "libnccl.so.2"),
                       opened(prefix, "libamdhip64.so.6"), opened(prefix, "libnvinfer.so.10"), opened(prefix, "libze_loader.so.1")};
#define FIND(name) \
  for (int i = 0; i < 6 && !call_##name; i++) call_##name = (__typeof__(name) *)dlsym(libraries[i], #name);
  FUNCTIONS(FIND)
}
#else
#define CALL(name) name
static void open_libraries(const char *prefix) { (void)prefix; }
#endif
