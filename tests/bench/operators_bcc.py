"""Operators of a ggml engine by BCC, the way papers and scripts see them: llmprof's peer in `bcc.ts`.

    /usr/bin/python3 operators_bcc.py PID LIBRARY OUTPUT.json

A uprobe and a return probe at each function of the library that computes an operator, one event for each call through a perf buffer (beginning, duration,
thread, function) and a table in Python. Says `ready` when all is attached; ends with SIGINT: a table on standard output, with what there was and what
came as JSON on its last line, and the events in a Chrome trace.
"""
import ctypes
import json
import re
import signal
import subprocess
import sys

from bcc import BPF

PROGRAM = """
#include <uapi/linux/ptrace.h>

struct call { u64 address; u64 begin; };
struct event { u64 address; u64 begin; u64 ns; u32 tid; };
// Operators call one another (a fused one does): a function that is called inside another of the same thread has a call of its own.
struct place { u64 stack; u64 tid; };

BPF_HASH(calls, struct place, struct call, 4096);
BPF_ARRAY(sent, u64, 1);
BPF_PERF_OUTPUT(events);

int begins(struct pt_regs *ctx) {
  struct place place = { .stack = PT_REGS_SP(ctx), .tid = (u32) bpf_get_current_pid_tgid() };
  struct call call = { .address = PT_REGS_IP(ctx), .begin = bpf_ktime_get_ns() };
  calls.update(&place, &call);
  return 0;
}

int returns(struct pt_regs *ctx) {
  struct place place = { .stack = PT_REGS_SP(ctx) - 8, .tid = (u32) bpf_get_current_pid_tgid() };
  struct call *call = calls.lookup(&place);
  if (!call) return 0;
  struct event event = { .address = call->address, .begin = call->begin, .ns = bpf_ktime_get_ns() - call->begin, .tid = place.tid };
  calls.delete(&place);
  sent.increment(0);
  events.perf_submit(ctx, &event, sizeof(event));
  return 0;
}
"""

# Products of repacked weights have a function for each kind of them.
OPERATOR = re.compile(r"(?:^ggml_compute_|\d)forward_(\w+?)(?:E[PK]\w*)?$")


def functions(library):
    """Name -> address in the file, of what computes an operator."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = (line.split() for line in lines)
    return {name: int(address, 16) for address, kind, name in rows if kind in "TW" and OPERATOR.search(name)}


def shown(name):
    """`rope`, and `mul_mat` for what computes products of one kind of weights."""
    return OPERATOR.search(name).group(1)


def main(pid, library, output):
    all_functions = functions(library)
    bpf = BPF(text=PROGRAM)
    for name in all_functions:
        bpf.attach_uprobe(name=library, sym=name, fn_name="begins", pid=pid)
        bpf.attach_uretprobe(name=library, sym=name, fn_name="returns", pid=pid)
    # The library lies on whole pages: the last twelve bits of an address are those of its place in the file.
    with open(f"/proc/{pid}/maps") as maps:
        base = min(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(library))
    names = {address + base: shown(name) for name, address in all_functions.items()}
    events, lost = [], [0]

    class Event(ctypes.Structure):
        _fields_ = [("address", ctypes.c_ulonglong), ("begin", ctypes.c_ulonglong), ("ns", ctypes.c_ulonglong), ("tid", ctypes.c_uint)]

    def took(_cpu, data, _size):
        event = ctypes.cast(data, ctypes.POINTER(Event)).contents
        events.append((event.address, event.begin, event.ns, event.tid))

    def missed(count):
        lost[0] += count

    bpf["events"].open_perf_buffer(took, page_cnt=64, lost_cb=missed)
    running = True

    def end(_signal, _frame):
        nonlocal running
        running = False

    signal.signal(signal.SIGINT, end)
    print("ready", flush=True)
    while running:
        bpf.perf_buffer_poll(timeout=100)
    sent = bpf["sent"][ctypes.c_int(0)].value
    bpf.perf_buffer_poll(timeout=0)
    table = {}
    for address, _, ns, _ in events:
        calls, total = table.get(address, (0, 0))
        table[address] = (calls + 1, total + ns)
    for address, (calls, total) in sorted(table.items(), key=lambda row: -row[1][1]):
        print(f"{names.get(address, hex(address)):20} {calls:9} calls {total / 1e6:12.2f} ms")
    print(json.dumps({"emitted": sent, "received": len(events), "lost": lost[0]}), flush=True)
    with open(output, "w") as file:
        slices = [{"ph": "X", "name": names.get(a, hex(a)), "pid": pid, "tid": tid, "ts": begin / 1e3, "dur": ns / 1e3} for a, begin, ns, tid in events]
        json.dump({"traceEvents": slices}, file)


main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
