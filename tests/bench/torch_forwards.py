"""Computes with PyTorch until it is ended. Every ten passes: the time since boot, passes so far, and CPU time so far, both times in nanoseconds.

    python3 torch_forwards.py WIDTH [cuda]
"""

import sys
import time

import torch
from torch import nn

width = int(sys.argv[1])
device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
torch.manual_seed(1)
torch.set_num_threads(1)
net = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True), 6).to(device)
x = torch.randn(1, 16, width, device=device)
passes = 0
with torch.no_grad():
    while True:
        # Not in evaluation: that has one operator for a whole layer.
        net(x)
        passes += 1
        if passes % 10 == 0:
            if device == "cuda":
                torch.cuda.synchronize()
            print(time.clock_gettime_ns(time.CLOCK_BOOTTIME), passes, time.process_time_ns(), flush=True)
