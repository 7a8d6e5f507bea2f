"""A transformer that computes with PyTorch, and what torch.profiler counts of it.

    python3 torch_net.py LAYERS FORWARDS [QUIET GO]

Makes the net, computes FORWARDS times, each after a pause, and prints how often each operator ran and which other one asked for it, the names of its
overloads, how often each was given which shapes, and of each time through the net how long the pause before it was by its own clock, in nanoseconds, and
how often others took its processor away from it. With QUIET and GO it has computed before, until the file QUIET is there, says so, and is looked at by the
profiler when the file GO is.
"""

import collections
import json
import os
import resource
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


def calls_of(nodes, outer=None):
    """Each operator with the one that asked for it. The profiler's tree is by nanoseconds; its events, in 1.13, by microseconds, in which a child is a sibling."""
    for node in nodes:
        name = node.name() if callable(node.name) else node.name
        is_operator = name.startswith("aten::")
        if is_operator:
            yield outer, name
        yield from calls_of(node.children, name if is_operator else outer)


def overloads(operator):
    found = [schema for schema in torch._C._jit_get_all_schemas() if schema.name == operator]
    return [s.name.removeprefix("aten::") + ("_" + s.overload_name if s.overload_name else "") for s in found]


def make():
    return nn.Sequential(*[Block(64) for _ in range(layers)]).eval(), torch.randn(1, 16, 64)


def taken():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


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
    with profile(record_shapes=True) as seen:
        net, x = made or make()
        passes = []
        for _ in range(forwards):
            began = time.perf_counter_ns()
            time.sleep(0.02)
            pause, before = time.perf_counter_ns() - began, taken()
            net(x)
            passes.append([pause, taken() - before])
nesting = collections.Counter(calls_of(seen.profiler.kineto_results.experimental_event_tree()))
calls = [[outer, inner, count] for (outer, inner), count in nesting.items()]
names = sorted({inner for _, inner in nesting})
given = collections.Counter((event.name, json.dumps(event.input_shapes)) for event in seen.events() if event.name.startswith("aten::"))
shapes = [[name, json.loads(shapes), count] for (name, shapes), count in given.items()]
print(json.dumps({"calls": calls, "overloads": {name: overloads(name) for name in names}, "shapes": shapes, "passes": passes}), flush=True)
