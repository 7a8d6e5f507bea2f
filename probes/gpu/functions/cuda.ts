/** CUDA's driver, as tables.ts says it. */
export const CUDA = `
init cuInit
query cuDriverGetVersion cuDeviceGetCount cuDeviceGetName cuDeviceGetUuid cuDeviceGetLuid cuDeviceTotalMem cuDeviceGetAttribute cuDeviceGetProperties
query cuDeviceComputeCapability cuDeviceGetPCIBusId cuDeviceGetByPCIBusId cuDeviceCanAccessPeer cuDeviceGetP2PAttribute cuDeviceGetDefaultMemPool
query cuDeviceGetMemPool cuDeviceGetNvSciSyncAttributes cuMemGetInfo
query cuKernelGetLibrary
query cuCtxGetFlags cuCtxGetLimit cuCtxGetApiVersion cuCtxGetCacheConfig
query cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange cuMemPoolGetAttribute cuMemPoolGetAccess cuMemGetAccess
query cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle cuMemHostGetDevicePointer cuMemHostGetFlags
query cuModuleGetLoadingMode
query cuModuleGetFunctionCount cuGraphGetNodes cuGraphGetEdges cuGraphGetRootNodes cuGraphNodeGetType cuGraphNodeGetDependencies cuGraphKernelNodeGetParams
query cuGraphMemcpyNodeGetParams cuGraphMemsetNodeGetParams cuGraphExecGetFlags cuIpcGetMemHandle cuIpcGetEventHandle cuEventElapsedTime
query cuMulticastGetGranularity cuMemRangeGetAttribute cuMemRangeGetAttributes
query cuDeviceGet device=*4:0 ordinal=1
state cuCtxGetCurrent cuCtxGetDevice cuCtxGetId cuDevicePrimaryCtxGetState cuKernelGetAttribute cuKernelGetName cuFuncGetAttribute cuFuncGetModule
state cuFuncGetName cuFuncGetParamInfo cuStreamGetCtx cuStreamGetFlags cuStreamGetPriority cuStreamGetId cuStreamGetDevice cuStreamIsCapturing
state cuStreamGetCaptureInfo cuStreamGetAttribute cuPointerGetAttribute cuPointerGetAttributes cuMemGetAddressRange cuGetErrorName cuGetErrorString
state cuGetProcAddress cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
state cuOccupancyMaxPotentialBlockSize cuOccupancyMaxPotentialBlockSizeWithFlags cuOccupancyAvailableDynamicSMemPerBlock
state cuOccupancyMaxPotentialClusterSize cuOccupancyMaxActiveClusters cuThreadExchangeStreamCaptureMode cuTensorMapEncodeTiled cuTensorMapEncodeIm2col
context cuCtxCreate context=*0 device=2
context cuCtxCreate_v3 context=*0 device=4
context cuCtxCreate_v4 context=*0 device=3
context cuDevicePrimaryCtxRetain context=*0 device=1
context cuCtxDestroy cuCtxDetach context=0
context cuCtxSetCurrent cuCtxPushCurrent context=0
context cuCtxPopCurrent context=*0
context cuDevicePrimaryCtxRelease cuDevicePrimaryCtxReset cuDevicePrimaryCtxSetFlags device=0
context cuCtxAttach cuCtxSetLimit cuCtxSetCacheConfig cuCtxSetSharedMemConfig cuCtxSetFlags cuCtxResetPersistingL2Cache cuCtxEnablePeerAccess cuCtxDisablePeerAccess
module cuModuleLoad cuModuleLoadData cuModuleLoadDataEx cuModuleLoadFatBinary cuLibraryLoadData cuLibraryLoadFromFile module=*0
module cuModuleUnload cuLibraryUnload module=0
module cuModuleGetGlobal cuModuleGetTexRef cuModuleGetSurfRef cuLibraryGetKernelCount cuLibraryGetModule cuLibraryGetGlobal cuLibraryGetManaged cuLinkCreate
module cuLinkAddData cuLinkAddFile cuLinkComplete cuLinkDestroy cuFuncSetAttribute cuFuncSetCacheConfig cuFuncSetSharedMemConfig cuKernelSetAttribute
module cuKernelSetCacheConfig cuFuncLoad cuFuncIsLoaded cuModuleEnumerateFunctions cuLibraryEnumerateKernels
function cuModuleGetFunction cuLibraryGetKernel function=*0 name=2
module cuKernelGetFunction function=*0 kernel=1
module cuGraphicsResourceGetMappedPointer cuExternalMemoryGetMappedBuffer cuGLMapBufferObject cuGLMapBufferObjectAsync
alloc:device cuMemAlloc address=*0 bytes=1
alloc:device cuMemAllocPitch address=*0 bytes=area23
alloc:managed cuMemAllocManaged address=*0 bytes=1
alloc:pooled cuMemAllocAsync address=*0 bytes=1 stream=2
alloc:pooled cuMemAllocFromPoolAsync address=*0 bytes=1 stream=3
alloc:host cuMemAllocHost cuMemHostAlloc address=*0 bytes=1
alloc:registered cuMemHostRegister address=0 bytes=1
alloc:physical cuMemCreate address=*0 bytes=1 location=locationOfProp
alloc:array cuArrayCreate cuArray3DCreate cuMipmappedArrayCreate address=*0
free cuMemFree cuMemFreeHost cuMemHostUnregister cuArrayDestroy cuMipmappedArrayDestroy address=0
free cuMemFreeAsync address=0 stream=1
free cuMemRelease address=0
reserve cuMemAddressReserve address=*0 bytes=1
reserve cuMemMap address=0 bytes=1 handle=3
reserve cuMemAddressFree cuMemUnmap cuMemSetAccess address=0 bytes=1
reserve cuMemRetainAllocationHandle address=*0
reserve cuMemExportToShareableHandle cuMemImportFromShareableHandle cuMemMapArrayAsync cuMemSetMemPool cuMemPoolImportPointer cuMemAdvise cuMulticastCreate cuMulticastAddDevice
reserve cuMulticastBindMem cuMulticastBindAddr cuMulticastUnbind cuIpcOpenMemHandle cuIpcCloseMemHandle cuIpcOpenEventHandle cuMemPoolCreate cuMemPoolDestroy
reserve cuMemPoolSetAttribute cuMemPoolSetAccess cuMemPoolTrimTo cuDeviceSetMemPool cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle
copy:any cuMemcpy to=0 from=1 bytes=2
copy:any cuMemcpyAsync to=0 from=1 bytes=2 stream=3
copy:HtoD cuMemcpyHtoD to=0 from=1 bytes=2
copy:HtoD cuMemcpyHtoDAsync to=0 from=1 bytes=2 stream=3
copy:DtoH cuMemcpyDtoH to=0 from=1 bytes=2
copy:DtoH cuMemcpyDtoHAsync to=0 from=1 bytes=2 stream=3
copy:DtoD cuMemcpyDtoD to=0 from=1 bytes=2
copy:DtoD cuMemcpyDtoDAsync to=0 from=1 bytes=2 stream=3
copy:HtoD cuMemcpyHtoA bytes=3
copy:HtoD cuMemcpyHtoAAsync bytes=3 stream=4
copy:DtoH cuMemcpyAtoH bytes=3
copy:DtoH cuMemcpyAtoHAsync bytes=3 stream=4
copy:DtoD cuMemcpyDtoA cuMemcpyAtoD bytes=3
copy:DtoD cuMemcpyAtoA bytes=4
copy:PtoP cuMemcpyPeer to=0 from=2 bytes=4
copy:PtoP cuMemcpyPeerAsync to=0 from=2 bytes=4 stream=5
copy:types cuMemcpy2D cuMemcpy2DUnaligned types=types2D bytes=area2D
copy:types cuMemcpy2DAsync types=types2D bytes=area2D stream=1
copy:types cuMemcpy3D types=types3D bytes=volume3D
copy:types cuMemcpy3DAsync types=types3D bytes=volume3D stream=1
copy:peers cuMemcpy3DPeer types=types3D bytes=volume3D
copy:peers cuMemcpy3DPeerAsync types=types3D bytes=volume3D stream=1
copy:any cuMemcpyBatchAsync stream=8
copy:any cuMemcpyBatchAsync_v2 stream=7
copy:any cuMemcpy3DBatchAsync stream=4
copy:any cuMemcpy3DBatchAsync_v2 stream=3
copy:any cuMemcpyWithAttributesAsync to=0 from=1 bytes=2 stream=4
prefetch cuMemPrefetchAsync address=0 bytes=1 stream=3
prefetch cuMemPrefetchAsync_v2 address=0 bytes=1 stream=4
prefetch cuMemPrefetchBatchAsync cuMemDiscardAndPrefetchBatchAsync stream=7
prefetch cuMemDiscardBatchAsync stream=4
set cuMemsetD8 address=0 bytes=2
set cuMemsetD8Async address=0 bytes=2 stream=3
set cuMemsetD16 address=0 words16=2
set cuMemsetD16Async address=0 words16=2 stream=3
set cuMemsetD32 address=0 words32=2
set cuMemsetD32Async address=0 words32=2 stream=3
set cuMemsetD2D8 address=0 bytes=area34
set cuMemsetD2D8Async address=0 bytes=area34 stream=5
set cuMemsetD2D16 address=0 words16=area34
set cuMemsetD2D16Async address=0 words16=area34 stream=5
set cuMemsetD2D32 address=0 words32=area34
set cuMemsetD2D32Async address=0 words32=area34 stream=5
launch cuLaunchKernel cuLaunchCooperativeKernel function=0 grid=gridOfNumbers block=blockOfNumbers stream=8
launch cuLaunchKernelEx function=1 grid=gridOfConfig block=blockOfConfig stream=streamOfConfig
launch cuLaunch cuLaunchGrid function=0
launch cuLaunchGridAsync function=0 stream=3
stream cuLaunchHostFunc stream=0
capture cuStreamBeginCapture cuStreamBeginCaptureToGraph stream=0
captured cuStreamEndCapture graph=*1 stream=0
graph cuGraphInstantiate cuGraphInstantiateWithFlags cuGraphInstantiateWithParams exec=*0 graph=1
graph cuGraphExecUpdate exec=0 graph=1
graph cuGraphUpload exec=0 stream=1
graph cuGraphDestroy graph=0
graph cuGraphExecDestroy exec=0
graph cuGraphCreate graph=*0
graph cuGraphClone graph=*0 original=1
graph cuGraphAddNode cuGraphAddKernelNode cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphAddHostNode cuGraphAddChildGraphNode cuGraphAddEmptyNode
graph cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphAddMemAllocNode cuGraphAddMemFreeNode cuGraphAddDependencies cuGraphRemoveDependencies
graph cuGraphDestroyNode cuGraphKernelNodeSetParams cuGraphMemcpyNodeSetParams cuGraphMemsetNodeSetParams cuGraphExecKernelNodeSetParams
graph cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams cuGraphExecNodeSetParams cuGraphNodeSetParams cuGraphDebugDotPrint
graph cuStreamUpdateCaptureDependencies
graphLaunch cuGraphLaunch exec=0 stream=1
stream cuStreamCreate cuStreamCreateWithPriority stream=*0 flags=1
stream cuGreenCtxStreamCreate stream=*0 flags=2
stream cuStreamDestroy cuStreamAddCallback cuStreamAttachMemAsync cuStreamSetAttribute cuStreamWriteValue32 cuStreamWriteValue64 cuStreamWaitValue32 stream=0
stream cuStreamWaitValue64 cuStreamBatchMemOp cuStreamCopyAttributes stream=0
event cuEventCreate event=*0
event cuEventDestroy event=0
event cuEventRecord cuEventRecordWithFlags event=0 stream=1
event cuStreamWaitEvent stream=0 event=1
poll cuEventQuery event=0
poll cuStreamQuery stream=0
sync cuCtxSynchronize
sync cuStreamSynchronize stream=0
sync cuEventSynchronize event=0
profile cuProfilerInitialize cuProfilerStart cuProfilerStop
`;
