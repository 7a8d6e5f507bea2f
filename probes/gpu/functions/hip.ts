/** What HIP has beside the twins of CUDA's runtime: the driver's calls by its own names. */
export const HIP = `
query hipDeviceGetName
alloc:device hipExtMallocWithFlags address=*0 bytes=1
alloc:host hipHostMalloc address=*0 bytes=1
free hipHostFree address=0
copy:kind hipMemcpyWithStream to=0 bytes=2 fromOfKind=fromOfKind stream=4
launch hipExtLaunchKernel function=0 grid=gridOfPairs block=blockOfPairs stream=7
init hipInit
query hipDeviceGet device=*4:0 ordinal=1
query hipDeviceGetUuid hipDeviceTotalMem hipDeviceComputeCapability hipModuleGetGlobal hipFuncGetAttribute
state hipCtxGetCurrent hipCtxGetDevice
context hipCtxCreate context=*0 device=2
context hipCtxDestroy hipCtxSetCurrent hipCtxPushCurrent context=0
context hipDevicePrimaryCtxRetain context=*0 device=1
context hipDevicePrimaryCtxRelease hipDevicePrimaryCtxReset hipDevicePrimaryCtxSetFlags device=0
state hipDevicePrimaryCtxGetState
module hipModuleLoad hipModuleLoadData hipModuleLoadDataEx hipModuleLoadFatBinary module=*0
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
alloc:array hipArrayCreate hipArray3DCreate hipMipmappedArrayCreate address=*0
free hipArrayDestroy hipMipmappedArrayDestroy address=0
set hipMemsetD8 address=0 bytes=2
set hipMemsetD8Async address=0 bytes=2 stream=3
set hipMemsetD16 address=0 words16=2
set hipMemsetD16Async address=0 words16=2 stream=3
set hipMemsetD32 address=0 words32=2
set hipMemsetD32Async address=0 words32=2 stream=3
set hipMemsetD2D8 address=0 bytes=area34
set hipMemsetD2D8Async address=0 bytes=area34 stream=5
set hipMemsetD2D16 address=0 words16=area34
set hipMemsetD2D16Async address=0 words16=area34 stream=5
set hipMemsetD2D32 address=0 words32=area34
set hipMemsetD2D32Async address=0 words32=area34 stream=5
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
copy:HtoD hipMemcpyHtoA bytes=3
copy:HtoD hipMemcpyHtoAAsync bytes=3 stream=4
copy:DtoH hipMemcpyAtoH bytes=3
copy:DtoH hipMemcpyAtoHAsync bytes=3 stream=4
copy:DtoD hipMemcpyDtoA hipMemcpyAtoD bytes=3
copy:DtoD hipMemcpyAtoA bytes=4
copy:types hipMemcpyParam2D hipDrvMemcpy2DUnaligned types=types2D bytes=area2D
copy:types hipMemcpyParam2DAsync types=types2D bytes=area2D stream=1
copy:types hipDrvMemcpy3D types=types3DOfHip bytes=volume3DOfHip
copy:types hipDrvMemcpy3DAsync types=types3DOfHip bytes=volume3DOfHip stream=1
prefetch hipMemPrefetchAsync address=0 bytes=1 stream=3
prefetch hipMemPrefetchAsync_v2 address=0 bytes=1
copy:any hipMemcpyBatchAsync stream=8
launch hipModuleLaunchKernel hipModuleLaunchCooperativeKernel function=0 grid=gridOfNumbers block=blockOfNumbers stream=8
launch hipDrvLaunchKernelEx function=1 grid=gridOfConfig block=blockOfConfig stream=streamOfConfig
launch hipExtModuleLaunchKernel hipHccModuleLaunchKernel function=0 stream=8
`;
