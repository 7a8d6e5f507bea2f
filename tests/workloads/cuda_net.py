"""A net that computes on a CUDA GPU with PyTorch, and what CUPTI, by torch.profiler, counts of it.

    python3 cuda_net.py FORWARDS REPLAYS

Between a call of cudaProfilerStart and one of cudaProfilerStop, which mark the same span for both, it copies to and fro, computes, captures a graph and
replays it, reduces over a process group of one, and holds and frees memory. Prints one JSON object: calls of the runtime and of the driver by name, copies
and memory set by what CUPTI calls them with their bytes, kernels by name, what PyTorch's allocator holds of the GPU and how often it asked for it.
"""

import collections
import json
import os
import sys
import tempfile

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

forwards, replays = int(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(1)
device = torch.device("cuda", 0)
runtime = torch.cuda.cudart()
width, rows = 512, 128

net = nn.Sequential(*[layer for _ in range(4) for layer in (nn.LayerNorm(width), nn.Linear(width, width), nn.GELU())]).eval().to(device)
pinned = torch.randn(rows, width).pin_memory()

torch.distributed.init_process_group("nccl", init_method="file://" + tempfile.mktemp(), rank=0, world_size=1, device_id=device)


def work():
    """Everything that is counted."""
    for _ in range(forwards):
        given = pinned.to(device, non_blocking=True)
        answer = net(given)
        copy = answer.clone()
        copy.cpu()
    torch.distributed.all_reduce(answer)
    # 64 MiB is more than the allocator keeps in blocks that it shares: it asks the driver for each, and gives them back.
    held = [torch.empty(64 << 20, dtype=torch.uint8, device=device) for _ in range(3)]
    held[0].zero_()
    held.pop()
    torch.cuda.empty_cache()
    graph.replay()
    for _ in range(replays - 1):
        graph.replay()
    torch.cuda.synchronize()
    return held


with torch.no_grad():
    # Whatever is loaded and tuned once is, before anybody counts.
    net(pinned.to(device)).cpu()
    answer = torch.ones(rows, width, device=device)
    torch.distributed.all_reduce(answer)
    still = torch.randn(rows, width, device=device)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        net(still)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        # A stream that joins the one that is recorded is recorded with it.
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            net[0](still).sum(0)
        net(still)
        torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        runtime.cudaProfilerStart()
        held = work()
        runtime.cudaProfilerStop()

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "seen.json")
    seen.export_chrome_trace(path)
    with open(path) as file:
        events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]

calls = sorted((event for event in events if event.get("cat") in ("cuda_runtime", "cuda_driver")), key=lambda event: event["ts"])
names = [event["name"] for event in calls]
counts = collections.Counter(names[names.index("cudaProfilerStart") + 1:names.index("cudaProfilerStop")] if "cudaProfilerStop" in names else names)
moved = collections.defaultdict(lambda: {"times": 0, "bytes": 0})
for event in events:
    if event.get("cat") in ("gpu_memcpy", "gpu_memset"):
        moved[event["name"]]["times"] += 1
        moved[event["name"]]["bytes"] += event["args"]["bytes"]

stats = torch.cuda.memory_stats()
print(json.dumps({
    "versions": {"torch": torch.__version__, "cuda": torch.version.cuda, "gpu": torch.cuda.get_device_name(), "nccl": list(torch.cuda.nccl.version())},
    "pid": os.getpid(),
    "calls": counts,
    "moved": moved,
    "kernels": collections.Counter(event["name"] for event in events if event.get("cat") == "kernel"),
    "reservedBytes": torch.cuda.memory_reserved(),
    "segments": {"asked": stats["num_device_alloc"], "freed": stats["num_device_free"]},
}), flush=True)
torch.distributed.destroy_process_group()
