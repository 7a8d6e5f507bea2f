"""A transformer that computes with PyTorch, and what torch.profiler counts of it.

    python3 torch_net.py LAYERS FORWARDS [QUIET GO]

Makes the net, computes FORWARDS times, each after a pause, and prints how often each operator ran and which other one asked for it, for how many of each that is not
certain, and the names of its overloads. With QUIET and GO it has computed before, until the file QUIET is there, says so, and is looked at by the
profiler when the file GO is.
"""

import collections
import json
import os
import sys
import time

import torch
from torch import nn
from torch.profiler import profile


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.before, self.behind = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        normal = self.before(x)
        scores = self.query(normal) @ self.key(normal).transpose(-1, -2) / 8
        x = x + self.out(torch.softmax(scores, -1) @ self.value(normal))
        return x + self.down(nn.functional.gelu(self.up(self.behind(x))))


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.01)


def name_of(event):
    return event.name if event is not None and event.name.startswith("aten::") else None


def overloads(operator):
    found = [schema for schema in torch._C._jit_get_all_schemas() if schema.name == operator]
    return [s.name.removeprefix("aten::") + ("_" + s.overload_name if s.overload_name else "") for s in found]


def touching(events):
    """Events by name that begin when the one beside them has not ended: PyTorch 1.13 has microseconds, by which it takes a child for its parent's sibling."""
    beside, count = collections.defaultdict(list), collections.Counter()
    for event in events:
        beside[event.thread, event.cpu_parent and event.cpu_parent.id].append(event)
    for siblings in beside.values():
        siblings.sort(key=lambda event: event.time_range.start)
        count.update(b.name for a, b in zip(siblings, siblings[1:]) if b.time_range.start <= a.time_range.end)
    return count


def make():
    return nn.Sequential(*[Block(64) for _ in range(layers)]).eval(), torch.randn(1, 16, 64)


layers, forwards, files = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
torch.manual_seed(1)
torch.set_num_threads(1)
print(json.dumps({"torch": torch.__version__}), flush=True)
with torch.no_grad():
    made = None
    if files:
        quiet, go = files
        made = net, x = make()
        while not os.path.exists(quiet):
            net(x)
            time.sleep(0.005)
        print(json.dumps({"quiet": True}), flush=True)
        wait_for(go)
    with profile() as seen:
        net, x = made or make()
        for _ in range(forwards):
            time.sleep(0.02)
            net(x)
events = [event for event in seen.events() if name_of(event)]
nesting = collections.Counter((name_of(event.cpu_parent), event.name) for event in events)
names = sorted({event.name for event in events})
calls = [[outer, inner, count] for (outer, inner), count in nesting.items()]
print(json.dumps({"calls": calls, "touching": touching(events), "overloads": {name: overloads(name) for name in names}}), flush=True)
