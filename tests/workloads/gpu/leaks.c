/*
 * Asks the stand-in driver for memory and for work in a way that is known:
 *
 *     leaks LEAKED FREED GAPS
 *
 * forget allocates LEAKED blocks of 1009 bytes and never frees them; remember allocates FREED and frees each. Then GAPS times: a kernel is launched and
 * waited for, and the program sleeps for 20 ms before it launches the next, before the last one for 300. Frame pointers are kept. Prints the longest and the
 * sum of the times from the end of a wait to the next launch by its own clock, in nanoseconds; at last it sleeps for two seconds, so that who looks finds it
 * there.
 */
#define _GNU_SOURCE
#include <err.h>

#include "../clock.h"
#include "log.h"

CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuStreamSynchronize(CUstream);

__attribute__((noinline)) static CUdeviceptr allocate(size_t bytes) {
  CUdeviceptr address;
  if (cuMemAlloc_v2(&address, bytes) != 0) errx(1, "cuMemAlloc");
  return address;
}

__attribute__((noinline)) static void forget(void) {
  allocate(1009);
  __asm__ volatile("");
}

__attribute__((noinline)) static void remember(void) {
  cuMemFree_v2(allocate(2003));
  __asm__ volatile("");
}

int main(int argc, char **argv) {
  if (argc != 4) errx(2, "usage: leaks LEAKED FREED GAPS");
  for (int i = atoi(argv[1]); i > 0; i--) forget();
  for (int i = atoi(argv[2]); i > 0; i--) remember();
  const CUstream stream = (CUstream)0x77;
  long long sum = 0, longest = 0, since = 0;
  for (int i = atoi(argv[3]); i >= 0; i--) {
    if (since > 0) {
      const long long gap = clock_ns(CLOCK_MONOTONIC) - since;
      sum += gap;
      if (gap > longest) longest = gap;
    }
    cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    cuStreamSynchronize(stream);
    since = clock_ns(CLOCK_MONOTONIC);
    nanosleep(&(struct timespec){0, i == 1 ? 300000000 : 20000000}, NULL);
  }
  printf("{\"gaps\":%d,\"sum\":%lld,\"longest\":%lld}\n", atoi(argv[3]), sum, longest);
  fflush(stdout);
  const struct timespec last = {2, 0};
  nanosleep(&last, NULL);
  return 0;
}
