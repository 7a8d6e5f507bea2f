"""A thread wakes its maker so many times (WAKES) under one name, and then under another; its maker gives it both. Prints its number and the names."""

import os
import sys
import threading
import time

ends = os.pipe()


def wake():
    while True:
        time.sleep(0.01)
        os.write(ends[1], b"x")


waker = threading.Thread(target=wake, daemon=True)
waker.start()
for name in "early-name", "late-name":
    open(f"/proc/self/task/{waker.native_id}/comm", "w").write(name)
    for i in range(int(sys.argv[1])):
        os.read(ends[0], 1)
print(waker.native_id, "early-name late-name", flush=True)
