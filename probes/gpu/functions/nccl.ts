/** NCCL, as tables.ts says it. */
export const NCCL = `
query ncclGetVersion ncclGetUniqueId ncclGetErrorString ncclGetLastError ncclCommCount ncclCommCuDevice ncclCommUserRank ncclCommGetAsyncError
query ncclCommGetUniqueId ncclCommQueryProperties ncclCommMemStats
context ncclCommInitRank ncclCommInitRankConfig ranks=1 rank=behindId
context ncclCommInitRankScalable ranks=1 rank=2
context ncclCommInitAll ncclCommSplit ncclCommShrink ncclCommRegister ncclCommDeregister
context ncclCommWindowRegister ncclCommWindowDeregister ncclRedOpCreatePreMulSum ncclRedOpDestroy
context ncclCommDestroy ncclCommFinalize ncclCommAbort ncclCommRevoke ncclCommSuspend ncclCommResume ncclDevCommCreate ncclDevCommDestroy
context ncclCommGrow ranks=1
alloc:device ncclMemAlloc address=*0 bytes=1
free ncclMemFree address=0
group ncclGroupStart ncclGroupEnd ncclGroupSimulateEnd
collective ncclAllReduce ncclReduceScatter ncclAllReduceConfig ncclReduceScatterConfig count=2 type=3 stream=6
collective ncclBroadcast ncclBroadcastConfig count=2 type=3 root=4 stream=6
collective ncclBcast count=1 type=2 root=3 stream=5
collective ncclReduce ncclReduceConfig count=2 type=3 root=5 stream=7
collective ncclAllGather ncclAlltoAll ncclAllGatherConfig ncclAlltoAllConfig count=2 type=3 stream=5
collective ncclGather ncclScatter ncclGatherConfig ncclScatterConfig count=2 type=3 root=4 stream=6
collective ncclSend ncclRecv count=1 type=2 peer=3 stream=5
collective ncclPutSignal count=1 type=2 peer=3 stream=10
collective ncclSignal peer=0 stream=5
collective ncclWaitSignal stream=3
`;
