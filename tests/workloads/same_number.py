"""A process loses its processor once more after it has said that it ends, while its memory is taken apart; another one gets its number, and wakes its parent so
many times (WAKES). Prints the number, and what that other one is called.
"""

import mmap
import os
import sys
import time

wakes = int(sys.argv[1])
os.sched_setaffinity(0, {0})
ends = os.pipe()
maker, hog = os.getpid(), os.fork()
if hog == 0:
    while os.getppid() == maker:
        pass
    os._exit(0)
first = os.fork()
if first == 0:
    open("/proc/self/comm", "w").write("early-name")
    memory = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, len(memory), 4096):
        memory[at] = 1
    os._exit(0)
os.waitpid(first, 0)
second = 0
while second != first:
    open("/proc/sys/kernel/ns_last_pid", "w").write(str(first - 1))
    second = os.fork()
    if second == 0:
        for i in range(wakes if os.getpid() == first else 0):
            time.sleep(0.01)
            os.write(ends[1], b"x")
        os._exit(0)
for i in range(wakes):
    os.read(ends[0], 1)
os.kill(hog, 9)
print(first, open("/proc/self/comm").read().strip(), flush=True)
