"""Threads that compute with PyTorch, and ask for what cannot be computed: an operator throws, and the program catches it.

    python3 torch_throws.py THREADS TIMES [STOP]

Each thread does so TIMES times, or until the file STOP is there; the program says "torch" first, and at its end what it did.
"""

import json
import os
import sys
import threading
import time

import torch

threads, times, stop = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None
a, b = torch.zeros(4, 5), torch.zeros(4, 5)
did = [{"relu": 0, "caught": 0} for _ in range(threads)]


def work(mine):
    while not os.path.exists(stop) if stop else mine["relu"] < times:
        torch.relu(a)
        mine["relu"] += 1
        try:
            torch.mm(a, b)
        except RuntimeError:
            mine["caught"] += 1
        time.sleep(0.005)


print('"torch"', flush=True)
others = [threading.Thread(target=work, args=(mine,)) for mine in did[1:]]
for other in others:
    other.start()
work(did[0])
for other in others:
    other.join()
print(json.dumps({name: sum(mine[name] for mine in did) for name in did[0]}), flush=True)
