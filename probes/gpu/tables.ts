/**
 * What functions of GPU libraries do, and where they say to what: on each line a kind, the functions (without the ends that versions give them: `_v2`,
 * `_ptsz`), and words about a call with where each is found: an argument by its place, `*0` what the first one points to when the function returns, or a
 * name of `SOURCES` (layout.ts, calls.ts). Written from the documentation of each interface; a version whose words lie elsewhere stands with its own name.
 */

const DRIVER = `
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

/** CUDA's runtime; HIP's is alike but for the beginning of its names. */
const RUNTIME = `
query cudaDriverGetVersion cudaRuntimeGetVersion cudaGetDeviceCount cudaGetDeviceProperties cudaDeviceGetAttribute cudaDeviceGetName
query cudaDeviceGetPCIBusId cudaDeviceGetByPCIBusId cudaDeviceCanAccessPeer cudaDeviceGetP2PAttribute cudaDeviceGetLimit cudaDeviceGetCacheConfig
query cudaDeviceGetSharedMemConfig cudaDeviceGetStreamPriorityRange cudaDeviceGetDefaultMemPool cudaDeviceGetMemPool cudaGetDeviceFlags cudaMemGetInfo
query cudaFuncGetAttributes cudaHostGetDevicePointer cudaHostGetFlags
query cudaGetSymbolAddress cudaGetSymbolSize cudaMemPoolGetAttribute cudaMemPoolGetAccess
query cudaEventElapsedTime cudaIpcGetMemHandle cudaIpcGetEventHandle
query cudaGraphGetNodes cudaGraphGetEdges cudaGraphGetRootNodes cudaGraphNodeGetType
query cudaGraphNodeGetDependencies cudaGraphKernelNodeGetParams cudaGraphMemcpyNodeGetParams cudaGraphMemsetNodeGetParams cudaArrayGetInfo cudaGetChannelDesc
query cudaChooseDevice cudaGetFuncBySymbol cudaGetKernel cudaDeviceGetTexture1DLinearMaxWidth
query cudaMemRangeGetAttribute cudaMemRangeGetAttributes cudaGetExportTable
state cudaGetDevice cudaGetLastError cudaPeekAtLastError cudaGetErrorName cudaGetErrorString cudaStreamIsCapturing cudaStreamGetCaptureInfo
state cudaStreamGetFlags cudaStreamGetPriority cudaStreamGetId cudaStreamGetDevice cudaStreamGetAttribute cudaPointerGetAttributes cudaFuncGetName
state cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cudaOccupancyAvailableDynamicSMemPerBlock
state cudaOccupancyMaxPotentialClusterSize cudaOccupancyMaxActiveClusters cudaGetDriverEntryPoint cudaGetDriverEntryPointByVersion
state cudaThreadExchangeStreamCaptureMode
context cudaSetDevice device=0
context cudaInitDevice cudaDeviceReset cudaSetDeviceFlags cudaSetValidDevices cudaDeviceSetLimit cudaDeviceSetCacheConfig cudaDeviceSetSharedMemConfig cudaDeviceSetMemPool
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
copy:PtoP cudaMemcpyPeer to=0 from=2 bytes=4
copy:PtoP cudaMemcpyPeerAsync to=0 from=2 bytes=4 stream=5
prefetch cudaMemPrefetchAsync address=0 bytes=1
set cudaMemset address=0 bytes=2
set cudaMemsetAsync address=0 bytes=2 stream=3
set cudaMemset2D address=0 bytes=area34
set cudaMemset2DAsync address=0 bytes=area34 stream=5
set cudaMemset3D
set cudaMemset3DAsync stream=behindStructs
launch cudaLaunchKernel cudaLaunchCooperativeKernel cudaExtLaunchKernel function=0 grid=gridOfPairs block=blockOfPairs stream=7
launch cudaLaunchKernelExC function=1 grid=gridOfConfig block=blockOfConfig stream=streamOfConfig
stream cudaLaunchHostFunc stream=0
capture cudaStreamBeginCapture cudaStreamBeginCaptureToGraph stream=0
captured cudaStreamEndCapture graph=*1 stream=0
graph cudaGraphInstantiate cudaGraphInstantiateWithFlags cudaGraphInstantiateWithParams exec=*0 graph=1
graph cudaGraphExecUpdate exec=0 graph=1
graph cudaGraphUpload exec=0 stream=1
graph cudaGraphDestroy graph=0
graph cudaGraphExecDestroy exec=0
graph cudaGraphCreate graph=*0
graph cudaGraphClone graph=*0 original=1
graph cudaGraphAddNode cudaGraphAddKernelNode cudaGraphAddMemcpyNode cudaGraphAddMemcpyNode1D cudaGraphAddMemsetNode cudaGraphAddHostNode
graph cudaGraphAddChildGraphNode cudaGraphAddEmptyNode cudaGraphAddEventRecordNode cudaGraphAddEventWaitNode cudaGraphAddMemAllocNode
graph cudaGraphAddMemFreeNode cudaGraphAddDependencies cudaGraphRemoveDependencies cudaGraphDestroyNode cudaGraphKernelNodeSetParams
graph cudaGraphMemcpyNodeSetParams cudaGraphExecKernelNodeSetParams cudaGraphExecMemcpyNodeSetParams cudaGraphExecNodeSetParams cudaGraphDebugDotPrint
graph cudaStreamUpdateCaptureDependencies
graphLaunch cudaGraphLaunch exec=0 stream=1
stream cudaStreamCreate stream=*0
stream cudaStreamCreateWithFlags cudaStreamCreateWithPriority stream=*0 flags=1
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
query cudaMipmappedArrayGetMemoryRequirements cudaMipmappedArrayGetSparseProperties cudaMemGetDefaultMemPool cudaMemGetMemPool
function cudaLibraryGetKernel function=*0 name=2
query cudaLibraryGetKernelCount cudaLibraryEnumerateKernels cudaLibraryGetGlobal cudaLibraryGetManaged cudaLibraryGetUnifiedFunction
query cudaLogsCurrent cudaLogsDumpToFile cudaLogsDumpToMemory cudaLogsRegisterCallback cudaLogsUnregisterCallback
query cudaGraphChildGraphNodeGetGraph cudaGraphEventRecordNodeGetEvent cudaGraphEventWaitNodeGetEvent cudaGraphExecGetFlags
query cudaGraphExternalSemaphoresSignalNodeGetParams cudaGraphExternalSemaphoresWaitNodeGetParams cudaGraphHostNodeGetParams cudaGraphKernelNodeGetAttribute
query cudaGraphMemAllocNodeGetParams cudaGraphMemFreeNodeGetParams cudaGraphNodeFindInClone cudaGraphNodeGetDependentNodes cudaGraphNodeGetEnabled
context cudaDeviceFlushGPUDirectRDMAWrites cudaDeviceRegisterAsyncNotification cudaDeviceUnregisterAsyncNotification
module cudaLibraryLoadFromFile cudaKernelSetAttributeForDevice
reserve cudaDeviceGraphMemTrim cudaDeviceSetGraphMemAttribute cudaMemSetMemPool cudaMemPoolExportPointer cudaMemPoolImportPointer
reserve cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle
prefetch cudaMemPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync stream=7
prefetch cudaMemDiscardBatchAsync stream=4
copy:any cudaMemcpyWithAttributesAsync to=0 from=1 bytes=2 stream=4
copy:any cudaMemcpyBatchAsync cudaMemcpy3DBatchAsync
copy:kind cudaMemcpyToArrayAsync cudaMemcpyFromArrayAsync bytes=4 kind=5 stream=6
copy:kind cudaMemcpyArrayToArray bytes=6 kind=7
copy:kind cudaMemcpy2DArrayToArray bytes=area67 kind=8
copy:PtoP cudaMemcpy3DPeer bytes=volumeOfPeers
copy:PtoP cudaMemcpy3DPeerAsync bytes=volumeOfPeers stream=1
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

/** What nvcc makes of <<<>>> since CUDA 13: a call with a handle, in a function that stands for the kernel in the program. */
const NVCC = `
launch:handle __cudaLaunchKernel function=0 grid=gridOfPairs block=blockOfPairs stream=7
`;

/** What HIP has beside the twins of CUDA's runtime: the driver's calls by its own names. */
const HIP_DRIVER = `
init hipInit
query hipDeviceGet device=*4:0 ordinal=1
query hipDeviceGetUuid hipDeviceTotalMem hipDeviceComputeCapability hipModuleGetGlobal hipFuncGetAttribute
state hipCtxGetCurrent hipCtxGetDevice
context hipCtxCreate context=*0 device=2
context hipCtxDestroy hipCtxSetCurrent hipCtxPushCurrent context=0
context hipDevicePrimaryCtxRetain context=*0 device=1
context hipDevicePrimaryCtxRelease device=0
module hipModuleLoad hipModuleLoadData hipModuleLoadDataEx module=*0
module hipModuleUnload module=0
function hipModuleGetFunction function=*0 name=2
alloc:physical hipMemCreate address=*0 bytes=1 location=locationOfProp
free hipMemRelease address=0
reserve hipMemAddressReserve address=*0 bytes=1
reserve hipMemMap address=0 bytes=1 handle=3
reserve hipMemAddressFree hipMemUnmap hipMemSetAccess address=0 bytes=1
reserve hipMemRetainAllocationHandle address=*0
reserve hipMemImportFromShareableHandle hipMemExportToShareableHandle hipMemMapArrayAsync
query hipGetDevicePropertiesR0600 hipChooseDeviceR0600
alloc:host hipMemAllocHost hipExtHostAlloc address=*0 bytes=1
alloc:device hipMemAllocPitch address=*0 bytes=area23
set hipMemsetD8 address=0 bytes=2
set hipMemsetD8Async address=0 bytes=2 stream=3
set hipMemsetD16 address=0 words16=2
set hipMemsetD16Async address=0 words16=2 stream=3
set hipMemsetD32 address=0 words32=2
set hipMemsetD32Async address=0 words32=2 stream=3
stream hipExtStreamCreateWithCUMask stream=*0
stream hipStreamWriteValue32 hipStreamWriteValue64 hipStreamWaitValue32 hipStreamWaitValue64 hipStreamBatchMemOp stream=0
context hipCtxPopCurrent context=*0
sync hipCtxSynchronize
copy:HtoD hipMemcpyHtoD to=0 from=1 bytes=2
copy:HtoD hipMemcpyHtoDAsync to=0 from=1 bytes=2 stream=3
copy:DtoH hipMemcpyDtoH to=0 from=1 bytes=2
copy:DtoH hipMemcpyDtoHAsync to=0 from=1 bytes=2 stream=3
copy:DtoD hipMemcpyDtoD to=0 from=1 bytes=2
copy:DtoD hipMemcpyDtoDAsync to=0 from=1 bytes=2 stream=3
prefetch hipMemPrefetchAsync address=0 bytes=1 stream=3
prefetch hipMemPrefetchAsync_v2 address=0 bytes=1
copy:any hipMemcpyBatchAsync stream=8
launch hipModuleLaunchKernel hipModuleLaunchCooperativeKernel function=0 grid=gridOfNumbers block=blockOfNumbers stream=8
launch hipExtModuleLaunchKernel hipHccModuleLaunchKernel function=0 stream=8
`;

const NCCL = `
query ncclGetVersion ncclGetUniqueId ncclGetErrorString ncclGetLastError ncclCommCount ncclCommCuDevice ncclCommUserRank ncclCommGetAsyncError
context ncclCommInitRank ncclCommInitRankConfig ranks=1 rank=behindId
context ncclCommInitRankScalable ranks=1 rank=2
context ncclCommInitAll ncclCommSplit ncclCommShrink ncclCommRegister ncclCommDeregister
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
copy:any zeCommandListAppendMemoryCopyRegion to=1 from=5 stream=0
set zeCommandListAppendMemoryFill address=1 bytes=4 stream=0
prefetch zeCommandListAppendMemoryPrefetch address=1 bytes=2 stream=0
launch zeCommandListAppendLaunchKernel zeCommandListAppendLaunchCooperativeKernel zeCommandListAppendLaunchKernelIndirect function=1 stream=0
free zeMemFreeExt address=2
poll zeEventQueryStatus event=0
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

export type Family = "cuda" | "cudart" | "nccl" | "hip" | "vulkan" | "tensorrt" | "levelzero";

/** By whose functions they are. */
export const TABLES: Readonly<Record<Family, string>> = {
  cuda: DRIVER,
  cudart: RUNTIME + NVCC.trimStart(),
  nccl: NCCL,
  hip: RUNTIME.replaceAll(" cuda", " hip") + HIP_DRIVER,
  vulkan: VULKAN,
  tensorrt: TENSORRT,
  levelzero: LEVEL_ZERO,
};
