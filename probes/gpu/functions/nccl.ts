/** NCCL, as tables.ts says it. */
export const NCCL = `
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
