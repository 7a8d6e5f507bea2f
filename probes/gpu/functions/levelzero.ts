/** Level Zero, as tables.ts says it. */
export const LEVEL_ZERO = `
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
