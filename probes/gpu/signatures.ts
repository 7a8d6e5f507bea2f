/**
 * What functions of GPU libraries do, and where they say to what: on each line a kind, the functions (without the ends that versions give them: `_v2`,
 * `_ptsz`), and words about a call with where each is found: an argument by its place, `*0` what the first one points to when the function returns, or a
 * name of {@link SOURCES}. Written from the documentation of each interface; a version whose words lie elsewhere stands with its own name.
 */

const DRIVER = `
init cuInit
query cuDriverGetVersion cuDeviceGetCount cuDeviceGetName cuDeviceGetUuid cuDeviceGetLuid cuDeviceTotalMem cuDeviceGetAttribute cuDeviceGetProperties
query cuDeviceComputeCapability cuDeviceGetPCIBusId cuDeviceGetByPCIBusId cuDeviceCanAccessPeer cuDeviceGetP2PAttribute cuDeviceGetDefaultMemPool
query cuDeviceGetMemPool cuDeviceGetNvSciSyncAttributes cuMemGetInfo cuMemGetAddressRange cuPointerGetAttribute cuPointerGetAttributes cuFuncGetAttribute
query cuFuncGetModule cuFuncGetName cuFuncGetParamInfo cuKernelGetAttribute cuKernelGetFunction cuKernelGetName cuKernelGetLibrary cuGetErrorName
query cuGetErrorString cuGetProcAddress cuCtxGetCurrent cuCtxGetDevice cuCtxGetFlags cuCtxGetId cuCtxGetLimit cuCtxGetApiVersion cuCtxGetCacheConfig
query cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange cuDevicePrimaryCtxGetState cuMemPoolGetAttribute cuMemPoolGetAccess cuMemGetAccess
query cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle cuMemHostGetDevicePointer cuMemHostGetFlags cuStreamGetCtx cuStreamGetFlags
query cuStreamGetPriority cuStreamGetId cuStreamGetDevice cuStreamIsCapturing cuStreamGetCaptureInfo cuStreamGetAttribute cuModuleGetLoadingMode
query cuModuleGetFunctionCount cuGraphGetNodes cuGraphGetEdges cuGraphGetRootNodes cuGraphNodeGetType cuGraphNodeGetDependencies cuGraphKernelNodeGetParams
query cuGraphMemcpyNodeGetParams cuGraphMemsetNodeGetParams cuGraphExecGetFlags cuIpcGetMemHandle cuIpcGetEventHandle cuEventElapsedTime
query cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxPotentialBlockSize
query cuOccupancyMaxPotentialBlockSizeWithFlags cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxPotentialClusterSize cuOccupancyMaxActiveClusters
query cuMulticastGetGranularity cuMemRangeGetAttribute cuMemRangeGetAttributes cuTensorMapEncodeTiled cuTensorMapEncodeIm2col
query cuDeviceGet device=*4:0 ordinal=1
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
alloc:device cuMemAlloc address=*0 bytes=1
alloc:device cuMemAllocPitch address=*0 bytes=area23
alloc:managed cuMemAllocManaged address=*0 bytes=1
alloc:pooled cuMemAllocAsync address=*0 bytes=1 stream=2
alloc:pooled cuMemAllocFromPoolAsync address=*0 bytes=1 stream=3
alloc:host cuMemAllocHost cuMemHostAlloc address=*0 bytes=1
alloc:registered cuMemHostRegister address=0 bytes=1
alloc:physical cuMemCreate address=*0 bytes=1
alloc:array cuArrayCreate cuArray3DCreate cuMipmappedArrayCreate address=*0
free cuMemFree cuMemFreeHost cuMemHostUnregister cuArrayDestroy cuMipmappedArrayDestroy address=0
free cuMemFreeAsync address=0 stream=1
free cuMemRelease address=0
reserve cuMemAddressReserve address=*0 bytes=1
reserve cuMemAddressFree cuMemMap cuMemUnmap cuMemSetAccess address=0 bytes=1
reserve cuMemExportToShareableHandle cuMemImportFromShareableHandle cuMemRetainAllocationHandle cuMemMapArrayAsync cuMemAdvise cuMulticastCreate cuMulticastAddDevice
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
copy:DtoD cuMemcpyPeer to=0 from=2 bytes=4
copy:DtoD cuMemcpyPeerAsync to=0 from=2 bytes=4 stream=5
copy:types cuMemcpy2D cuMemcpy2DUnaligned types=types2D bytes=area2D
copy:types cuMemcpy2DAsync types=types2D bytes=area2D stream=1
copy:types cuMemcpy3D types=types3D bytes=volume3D
copy:types cuMemcpy3DAsync types=types3D bytes=volume3D stream=1
prefetch cuMemPrefetchAsync address=0 bytes=1
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
launch cuLaunch cuLaunchGrid cuLaunchGridAsync function=0
launch cuLaunchHostFunc stream=0
capture cuStreamBeginCapture cuStreamBeginCaptureToGraph stream=0
captured cuStreamEndCapture stream=0
graph cuGraphInstantiate cuGraphInstantiateWithFlags cuGraphInstantiateWithParams exec=*0 graph=1
graph cuGraphExecUpdate exec=0 graph=1
graph cuGraphUpload exec=0 stream=1
graph cuGraphDestroy graph=0
graph cuGraphExecDestroy exec=0
graph cuGraphCreate cuGraphClone graph=*0
graph cuGraphAddNode cuGraphAddKernelNode cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphAddHostNode cuGraphAddChildGraphNode cuGraphAddEmptyNode
graph cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphAddMemAllocNode cuGraphAddMemFreeNode cuGraphAddDependencies cuGraphRemoveDependencies
graph cuGraphDestroyNode cuGraphKernelNodeSetParams cuGraphMemcpyNodeSetParams cuGraphMemsetNodeSetParams cuGraphExecKernelNodeSetParams
graph cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams cuGraphExecNodeSetParams cuGraphNodeSetParams cuGraphDebugDotPrint
graph cuStreamUpdateCaptureDependencies cuThreadExchangeStreamCaptureMode
graphLaunch cuGraphLaunch exec=0 stream=1
stream cuStreamCreate cuStreamCreateWithPriority stream=*0
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

/** CUDA's runtime; HIP's is alike but for the beginning of its names. */
const RUNTIME = `
query cudaDriverGetVersion cudaRuntimeGetVersion cudaGetDeviceCount cudaGetDevice cudaGetDeviceProperties cudaDeviceGetAttribute cudaDeviceGetName
query cudaDeviceGetPCIBusId cudaDeviceGetByPCIBusId cudaDeviceCanAccessPeer cudaDeviceGetP2PAttribute cudaDeviceGetLimit cudaDeviceGetCacheConfig
query cudaDeviceGetSharedMemConfig cudaDeviceGetStreamPriorityRange cudaDeviceGetDefaultMemPool cudaDeviceGetMemPool cudaGetDeviceFlags cudaMemGetInfo
query cudaPointerGetAttributes cudaFuncGetAttributes cudaFuncGetName cudaHostGetDevicePointer cudaHostGetFlags cudaGetErrorName cudaGetErrorString cudaGetLastError
query cudaPeekAtLastError cudaGetSymbolAddress cudaGetSymbolSize cudaMemPoolGetAttribute cudaMemPoolGetAccess cudaStreamGetFlags cudaStreamGetPriority
query cudaStreamGetId cudaStreamIsCapturing cudaStreamGetCaptureInfo cudaStreamGetAttribute cudaEventElapsedTime cudaIpcGetMemHandle cudaIpcGetEventHandle
query cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cudaOccupancyAvailableDynamicSMemPerBlock
query cudaOccupancyMaxPotentialClusterSize cudaOccupancyMaxActiveClusters cudaGraphGetNodes cudaGraphGetEdges cudaGraphGetRootNodes cudaGraphNodeGetType
query cudaGraphNodeGetDependencies cudaGraphKernelNodeGetParams cudaGraphMemcpyNodeGetParams cudaGraphMemsetNodeGetParams cudaArrayGetInfo cudaGetChannelDesc
query cudaChooseDevice cudaGetDriverEntryPoint cudaGetDriverEntryPointByVersion cudaGetFuncBySymbol cudaGetKernel cudaDeviceGetTexture1DLinearMaxWidth
query cudaMemRangeGetAttribute cudaMemRangeGetAttributes cudaGetExportTable
context cudaSetDevice cudaInitDevice device=0
context cudaDeviceReset cudaSetDeviceFlags cudaSetValidDevices cudaDeviceSetLimit cudaDeviceSetCacheConfig cudaDeviceSetSharedMemConfig cudaDeviceSetMemPool
context cudaDeviceEnablePeerAccess cudaDeviceDisablePeerAccess cudaCtxResetPersistingL2Cache cudaThreadExit
module cudaFuncSetAttribute cudaFuncSetCacheConfig cudaFuncSetSharedMemConfig cudaLibraryLoadData cudaLibraryUnload cudaCreateTextureObject
module cudaDestroyTextureObject cudaCreateSurfaceObject cudaDestroySurfaceObject
alloc:device cudaMalloc cudaExtMallocWithFlags address=*0 bytes=1
alloc:device cudaMallocPitch address=*0 bytes=area23
alloc:device cudaMalloc3D address=*0 bytes=extent
alloc:managed cudaMallocManaged address=*0 bytes=1
alloc:pooled cudaMallocAsync address=*0 bytes=1 stream=2
alloc:pooled cudaMallocFromPoolAsync address=*0 bytes=1 stream=3
alloc:host cudaMallocHost cudaHostAlloc cudaHostMalloc address=*0 bytes=1
alloc:registered cudaHostRegister address=0 bytes=1
alloc:array cudaMallocArray cudaMalloc3DArray cudaMallocMipmappedArray address=*0
free cudaFree cudaFreeHost cudaHostFree cudaHostUnregister cudaFreeArray cudaFreeMipmappedArray address=0
free cudaFreeAsync address=0 stream=1
reserve cudaMemAdvise cudaMemPoolCreate cudaMemPoolDestroy cudaMemPoolSetAttribute cudaMemPoolSetAccess cudaMemPoolTrimTo cudaIpcOpenMemHandle
reserve cudaIpcCloseMemHandle cudaIpcOpenEventHandle
copy:kind cudaMemcpy to=0 from=1 bytes=2 kind=3
copy:kind cudaMemcpyAsync to=0 bytes=2 kind=3 stream=4
copy:kind cudaMemcpyWithStream to=0 bytes=2 kind=3 stream=4
copy:kind cudaMemcpy2D bytes=area45 kind=6
copy:kind cudaMemcpy2DAsync bytes=area45 kind=6 stream=7
copy:kind cudaMemcpyToSymbol cudaMemcpyFromSymbol bytes=2 kind=4
copy:kind cudaMemcpyToSymbolAsync cudaMemcpyFromSymbolAsync bytes=2 kind=4 stream=5
copy:kind cudaMemcpyToArray cudaMemcpyFromArray bytes=4 kind=5
copy:kind cudaMemcpy2DToArray cudaMemcpy2DFromArray bytes=area56 kind=7
copy:kind cudaMemcpy2DToArrayAsync cudaMemcpy2DFromArrayAsync bytes=area56 kind=7 stream=8
copy:kind cudaMemcpy3D bytes=volumeOfParms kind=kindOfParms
copy:kind cudaMemcpy3DAsync bytes=volumeOfParms kind=kindOfParms stream=1
copy:DtoD cudaMemcpyPeer to=0 from=2 bytes=4
copy:DtoD cudaMemcpyPeerAsync to=0 from=2 bytes=4 stream=5
prefetch cudaMemPrefetchAsync address=0 bytes=1
set cudaMemset address=0 bytes=2
set cudaMemsetAsync address=0 bytes=2 stream=3
set cudaMemset2D address=0 bytes=area34
set cudaMemset2DAsync address=0 bytes=area34 stream=5
set cudaMemset3D cudaMemset3DAsync
launch cudaLaunchKernel cudaLaunchCooperativeKernel cudaExtLaunchKernel function=0 grid=gridOfPairs block=blockOfPairs stream=7
launch cudaLaunchKernelExC function=1 grid=gridOfConfig block=blockOfConfig stream=streamOfConfig
launch cudaLaunchHostFunc stream=0
capture cudaStreamBeginCapture cudaStreamBeginCaptureToGraph stream=0
captured cudaStreamEndCapture stream=0
graph cudaGraphInstantiate cudaGraphInstantiateWithFlags cudaGraphInstantiateWithParams exec=*0 graph=1
graph cudaGraphExecUpdate exec=0 graph=1
graph cudaGraphUpload exec=0 stream=1
graph cudaGraphDestroy graph=0
graph cudaGraphExecDestroy exec=0
graph cudaGraphCreate cudaGraphClone graph=*0
graph cudaGraphAddNode cudaGraphAddKernelNode cudaGraphAddMemcpyNode cudaGraphAddMemcpyNode1D cudaGraphAddMemsetNode cudaGraphAddHostNode
graph cudaGraphAddChildGraphNode cudaGraphAddEmptyNode cudaGraphAddEventRecordNode cudaGraphAddEventWaitNode cudaGraphAddMemAllocNode
graph cudaGraphAddMemFreeNode cudaGraphAddDependencies cudaGraphRemoveDependencies cudaGraphDestroyNode cudaGraphKernelNodeSetParams
graph cudaGraphMemcpyNodeSetParams cudaGraphExecKernelNodeSetParams cudaGraphExecMemcpyNodeSetParams cudaGraphExecNodeSetParams cudaGraphDebugDotPrint
graph cudaStreamUpdateCaptureDependencies cudaThreadExchangeStreamCaptureMode
graphLaunch cudaGraphLaunch exec=0 stream=1
stream cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority stream=*0
stream cudaStreamDestroy cudaStreamAddCallback cudaStreamAttachMemAsync cudaStreamSetAttribute cudaStreamCopyAttributes stream=0
event cudaEventCreate cudaEventCreateWithFlags event=*0
event cudaEventDestroy event=0
event cudaEventRecord cudaEventRecordWithFlags event=0 stream=1
event cudaStreamWaitEvent stream=0 event=1
poll cudaEventQuery event=0
poll cudaStreamQuery stream=0
sync cudaDeviceSynchronize cudaThreadSynchronize
sync cudaStreamSynchronize stream=0
sync cudaEventSynchronize event=0
profile cudaProfilerStart cudaProfilerStop
query cudaArrayGetMemoryRequirements cudaArrayGetPlane cudaArrayGetSparseProperties cudaCreateChannelDesc cudaDeviceGetGraphMemAttribute
query cudaDeviceGetHostAtomicCapabilities cudaDeviceGetNvSciSyncAttributes cudaDeviceGetP2PAtomicCapabilities cudaFuncGetParamInfo cudaGetMipmappedArrayLevel
query cudaGetSurfaceObjectResourceDesc cudaGetTextureObjectResourceDesc cudaGetTextureObjectResourceViewDesc cudaGetTextureObjectTextureDesc
query cudaMipmappedArrayGetMemoryRequirements cudaMipmappedArrayGetSparseProperties cudaMemGetDefaultMemPool cudaMemGetMemPool cudaStreamGetDevice
query cudaLibraryGetKernelCount cudaLibraryEnumerateKernels cudaLibraryGetGlobal cudaLibraryGetKernel cudaLibraryGetManaged cudaLibraryGetUnifiedFunction
query cudaLogsCurrent cudaLogsDumpToFile cudaLogsDumpToMemory cudaLogsRegisterCallback cudaLogsUnregisterCallback
query cudaGraphChildGraphNodeGetGraph cudaGraphEventRecordNodeGetEvent cudaGraphEventWaitNodeGetEvent cudaGraphExecGetFlags
query cudaGraphExternalSemaphoresSignalNodeGetParams cudaGraphExternalSemaphoresWaitNodeGetParams cudaGraphHostNodeGetParams cudaGraphKernelNodeGetAttribute
query cudaGraphMemAllocNodeGetParams cudaGraphMemFreeNodeGetParams cudaGraphNodeFindInClone cudaGraphNodeGetDependentNodes cudaGraphNodeGetEnabled
context cudaDeviceFlushGPUDirectRDMAWrites cudaDeviceRegisterAsyncNotification cudaDeviceUnregisterAsyncNotification
module cudaLibraryLoadFromFile cudaKernelSetAttributeForDevice
reserve cudaDeviceGraphMemTrim cudaDeviceSetGraphMemAttribute cudaMemSetMemPool cudaMemPoolExportPointer cudaMemPoolImportPointer
reserve cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle
prefetch cudaMemPrefetchBatchAsync cudaMemDiscardBatchAsync cudaMemDiscardAndPrefetchBatchAsync
copy:any cudaMemcpyBatchAsync cudaMemcpy3DBatchAsync
copy:kind cudaMemcpyToArrayAsync cudaMemcpyFromArrayAsync bytes=4 kind=5 stream=6
copy:kind cudaMemcpyArrayToArray bytes=6 kind=7
copy:kind cudaMemcpy2DArrayToArray bytes=area67 kind=8
copy:DtoD cudaMemcpy3DPeer bytes=volumeOfPeers
copy:DtoD cudaMemcpy3DPeerAsync bytes=volumeOfPeers stream=1
graph cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode cudaGraphAddMemcpyNodeFromSymbol cudaGraphAddMemcpyNodeToSymbol
graph cudaGraphConditionalHandleCreate cudaGraphEventRecordNodeSetEvent cudaGraphEventWaitNodeSetEvent cudaGraphExecChildGraphNodeSetParams
graph cudaGraphExecEventRecordNodeSetEvent cudaGraphExecEventWaitNodeSetEvent cudaGraphExecExternalSemaphoresSignalNodeSetParams
graph cudaGraphExecExternalSemaphoresWaitNodeSetParams cudaGraphExecHostNodeSetParams cudaGraphExecMemcpyNodeSetParams1D
graph cudaGraphExecMemcpyNodeSetParamsFromSymbol cudaGraphExecMemcpyNodeSetParamsToSymbol cudaGraphExecMemsetNodeSetParams
graph cudaGraphExternalSemaphoresSignalNodeSetParams cudaGraphExternalSemaphoresWaitNodeSetParams cudaGraphHostNodeSetParams cudaGraphKernelNodeCopyAttributes
graph cudaGraphKernelNodeSetAttribute cudaGraphMemcpyNodeSetParams1D cudaGraphMemcpyNodeSetParamsFromSymbol cudaGraphMemcpyNodeSetParamsToSymbol
graph cudaGraphMemsetNodeSetParams cudaGraphNodeSetEnabled cudaGraphNodeSetParams cudaGraphReleaseUserObject cudaGraphRetainUserObject
graph cudaUserObjectCreate cudaUserObjectRelease cudaUserObjectRetain
interop cudaImportExternalMemory cudaDestroyExternalMemory cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray
interop cudaImportExternalSemaphore cudaDestroyExternalSemaphore cudaSignalExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync
interop cudaGraphicsMapResources cudaGraphicsUnmapResources cudaGraphicsUnregisterResource cudaGraphicsResourceSetMapFlags cudaGraphicsResourceGetMappedPointer
interop cudaGraphicsResourceGetMappedEglFrame cudaGraphicsResourceGetMappedMipmappedArray cudaGraphicsSubResourceGetMappedArray cudaGraphicsGLRegisterBuffer
interop cudaGraphicsGLRegisterImage cudaGraphicsEGLRegisterImage cudaGraphicsVDPAURegisterOutputSurface cudaGraphicsVDPAURegisterVideoSurface
interop cudaGLGetDevices cudaGLSetGLDevice cudaGLRegisterBufferObject cudaGLUnregisterBufferObject cudaGLMapBufferObject cudaGLMapBufferObjectAsync
interop cudaGLUnmapBufferObject cudaGLUnmapBufferObjectAsync cudaGLSetBufferObjectMapFlags cudaVDPAUGetDevice cudaVDPAUSetVDPAUDevice
interop cudaEventCreateFromEGLSync cudaEGLStreamConsumerConnect cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect
interop cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerReleaseFrame cudaEGLStreamProducerConnect cudaEGLStreamProducerDisconnect
interop cudaEGLStreamProducerPresentFrame cudaEGLStreamProducerReturnFrame
`;

/** What HIP has beside the twins of CUDA's runtime: the driver's calls by its own names. */
const HIP_DRIVER = `
init hipInit
query hipDeviceGet device=*4:0 ordinal=1
query hipDeviceGetUuid hipDeviceTotalMem hipDeviceComputeCapability hipCtxGetCurrent hipCtxGetDevice hipModuleGetGlobal hipFuncGetAttribute
context hipCtxCreate context=*0 device=2
context hipCtxDestroy hipCtxSetCurrent hipCtxPushCurrent context=0
context hipDevicePrimaryCtxRetain context=*0 device=1
context hipDevicePrimaryCtxRelease device=0
module hipModuleLoad hipModuleLoadData hipModuleLoadDataEx module=*0
module hipModuleUnload module=0
function hipModuleGetFunction function=*0 name=2
alloc:physical hipMemCreate address=*0 bytes=1
free hipMemRelease address=0
reserve hipMemAddressReserve address=*0 bytes=1
reserve hipMemAddressFree hipMemMap hipMemUnmap hipMemSetAccess address=0 bytes=1
copy:HtoD hipMemcpyHtoD to=0 from=1 bytes=2
copy:HtoD hipMemcpyHtoDAsync to=0 from=1 bytes=2 stream=3
copy:DtoH hipMemcpyDtoH to=0 from=1 bytes=2
copy:DtoH hipMemcpyDtoHAsync to=0 from=1 bytes=2 stream=3
copy:DtoD hipMemcpyDtoD to=0 from=1 bytes=2
copy:DtoD hipMemcpyDtoDAsync to=0 from=1 bytes=2 stream=3
launch hipModuleLaunchKernel hipModuleLaunchCooperativeKernel hipExtModuleLaunchKernel function=0 grid=gridOfNumbers block=blockOfNumbers stream=8
`;

const NCCL = `
query ncclGetVersion ncclGetUniqueId ncclGetErrorString ncclGetLastError ncclCommCount ncclCommCuDevice ncclCommUserRank ncclCommGetAsyncError
context ncclCommInitRank ranks=1 rank=2
context ncclCommInitAll ncclCommInitRankConfig ncclCommInitRankScalable ncclCommSplit ncclCommShrink ncclCommRegister ncclCommDeregister
context ncclCommWindowRegister ncclCommWindowDeregister ncclRedOpCreatePreMulSum ncclRedOpDestroy
context ncclCommDestroy ncclCommFinalize ncclCommAbort
alloc:device ncclMemAlloc address=*0 bytes=1
free ncclMemFree address=0
group ncclGroupStart ncclGroupEnd ncclGroupSimulateEnd
collective ncclAllReduce ncclReduceScatter count=2 type=3 stream=6
collective ncclBroadcast count=2 type=3 root=4 stream=6
collective ncclBcast count=1 type=2 root=3 stream=5
collective ncclReduce count=2 type=3 root=5 stream=7
collective ncclAllGather ncclAlltoAll count=2 type=3 stream=5
collective ncclGather ncclScatter count=2 type=3 root=4 stream=6
collective ncclSend ncclRecv count=1 type=2 peer=3 stream=5
`;

const TENSORRT = `
init createInferRuntime_INTERNAL createInferBuilder_INTERNAL createInferRefitter_INTERNAL
query getInferLibVersion
`;

const LEVEL_ZERO = `
init zeInit zeInitDrivers zesInit
context zeContextCreate zeContextDestroy zeCommandQueueCreate zeCommandQueueDestroy zeCommandListCreate zeCommandListCreateImmediate
module zeModuleCreate zeModuleDestroy zeKernelCreate zeKernelDestroy
alloc:device zeMemAllocDevice address=*5 bytes=2
alloc:host zeMemAllocHost address=*4 bytes=2
alloc:managed zeMemAllocShared address=*6 bytes=3
free zeMemFree address=1
copy:any zeCommandListAppendMemoryCopy to=1 from=2 bytes=3 stream=0
launch zeCommandListAppendLaunchKernel function=1 stream=0
submit zeCommandQueueExecuteCommandLists stream=0 submits=1
sync zeCommandQueueSynchronize stream=0
sync zeCommandListHostSynchronize stream=0
sync zeEventHostSynchronize event=0
sync zeFenceHostSynchronize
`;

const VULKAN = `
init vkCreateInstance vkCreateDevice
query vkEnumeratePhysicalDevices vkGetPhysicalDeviceProperties vkGetPhysicalDeviceProperties2 vkGetPhysicalDeviceMemoryProperties
query vkGetPhysicalDeviceMemoryProperties2 vkGetPhysicalDeviceFeatures2 vkGetPhysicalDeviceQueueFamilyProperties vkGetBufferMemoryRequirements
context vkDestroyDevice vkDestroyInstance vkGetDeviceQueue
module vkCreateShaderModule vkCreateComputePipelines vkDestroyPipeline
alloc:device vkAllocateMemory address=*3 bytes=bytesOfInfo
free vkFreeMemory address=1
map vkMapMemory vkUnmapMemory vkFlushMappedMemoryRanges vkInvalidateMappedMemoryRanges
buffer vkCreateBuffer vkDestroyBuffer vkBindBufferMemory
submit vkQueueSubmit vkQueueSubmit2 vkQueueSubmit2KHR stream=0 submits=1
submit vkQueueBindSparse stream=0 submits=1
poll vkGetFenceStatus vkGetEventStatus
sync vkQueueWaitIdle stream=0
sync vkDeviceWaitIdle
sync vkWaitForFences fences=1
sync vkWaitSemaphores vkWaitSemaphoresKHR
event vkResetFences vkSignalSemaphore
`;

/** Functions that return nothing, a text, or what another one had failed with. */
const VOID = new RegExp(
  "^(?:vk(?:Destroy|Free|Unmap|GetPhysicalDevice|GetBuffer|GetDeviceQueue)|(?:cuda|hip)(?:GetError|GetLastError|PeekAtLastError|CreateChannelDesc)|" +
    "nccl(?:GetErrorString|GetLastError)|createInfer|getInferLibVersion)",
);

export type Family = "cuda" | "cudart" | "nccl" | "hip" | "vulkan" | "tensorrt" | "levelzero";

const TABLES: Readonly<Record<Family, string>> = {
  cuda: DRIVER,
  cudart: RUNTIME,
  nccl: NCCL,
  hip: RUNTIME.replaceAll(" cuda", " hip") + HIP_DRIVER,
  vulkan: VULKAN,
  tensorrt: TENSORRT,
  levelzero: LEVEL_ZERO,
};

export type Kind =
  | "init"
  | "query"
  | "context"
  | "module"
  | "function"
  | "alloc"
  | "free"
  | "reserve"
  | "copy"
  | "prefetch"
  | "set"
  | "launch"
  | "graph"
  | "graphLaunch"
  | "capture"
  | "captured"
  | "stream"
  | "event"
  | "poll"
  | "sync"
  | "collective"
  | "group"
  | "submit"
  | "map"
  | "buffer"
  | "interop"
  | "profile";

/** A function as it is decoded. */
export interface Signature {
  /** Without the end of a version. */
  readonly name: string;
  readonly kind: Kind;
  /** Of an allocation, what kind of memory; of a copy, its direction, or what says it: `kind`, `types`, or `any`, where addresses do. */
  readonly variant: string;
  /** What is said of a call, by its words, in their order; as many as {@link WORDS} at most. */
  readonly words: readonly string[];
  /** Where each is found. What is given back comes first. */
  readonly sources: readonly string[];
  /** What it returns says nothing of how it went. */
  readonly isVoid: boolean;
}

/** Words that a record has. */
export const WORDS = 4;

/** A function's name without what versions, and per-thread streams, put behind it. */
export function withoutVersion(name: string): string {
  return name.replace(/_(?:ptsz|ptds|spt)$/, "").replace(/_v\d+$/, "").replace(/_(?:ptsz|ptds|spt)$/, "");
}

const parsed = new Map<Family, ReadonlyMap<string, Signature>>();

/** The functions of a family by their names in {@link TABLES}. */
export function signaturesOf(family: Family): ReadonlyMap<string, Signature> {
  let table = parsed.get(family);
  if (!table) parsed.set(family, table = parse(TABLES[family]));
  return table;
}

/** What is known of an exported function; undefined: nothing. */
export function signatureOf(family: Family, symbol: string): Signature | undefined {
  const table = signaturesOf(family);
  return table.get(symbol) ?? table.get(symbol.replace(/_(?:ptsz|ptds|spt)$/, "")) ?? table.get(withoutVersion(symbol));
}

function parse(table: string): Map<string, Signature> {
  const signatures = new Map<string, Signature>();
  for (const line of table.trim().split("\n")) {
    const [head, ...rest] = line.split(" ");
    const [kind, variant = ""] = head!.split(":");
    const said = rest.filter((word) => word.includes("=")).map((word) => word.split("=") as [string, string]);
    // What the function gives comes first: the program reads it when the function returns.
    said.sort(([, a], [, b]) => Number(b.startsWith("*")) - Number(a.startsWith("*")));
    if (said.length > WORDS) throw new Error(`a record has no room for: ${line}`);
    for (const name of rest.filter((word) => !word.includes("="))) {
      signatures.set(name, {
        name: withoutVersion(name),
        kind: kind as Kind,
        variant,
        words: said.map(([word]) => word),
        sources: said.map(([, source]) => source),
        isVoid: VOID.test(name),
      });
    }
  }
  return signatures;
}
