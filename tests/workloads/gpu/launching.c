/*
 * Launches kernels with the stand-in driver, as evenly as it can:
 *
 *     launching PER_SECOND MILLISECONDS [KIB]          PER_SECOND 0: as fast as it can
 *
 * KIB: between two launches it walks through so much memory, so that a call finds the caches as an engine leaves them.
 *
 * Prints how many it launched, and the CPU time of its thread in nanoseconds for each.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "../clock.h"

typedef struct handle *CUfunction, *CUstream;
int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const size_t bytes = argc > 3 ? (size_t)atoll(argv[3]) << 10 : 0;
  volatile char *memory = bytes > 0 ? calloc(1, bytes) : NULL;
  const long long rate = atoll(argv[1]), begin = clock_ns(CLOCK_MONOTONIC), end = begin + atoll(argv[2]) * 1000000;
  const long long used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  long long calls = 0;
  for (long long now; (now = clock_ns(CLOCK_MONOTONIC)) < end;) {
    /* A hundred at a time: reading a clock takes as long as a call. */
    const long long due = rate == 0 ? calls + 100 : (now - begin) * rate / 1000000000;
    for (; calls < due; calls++) {
      cuLaunchKernel(NULL, 1, 2, 3, 4, 5, 6, 0, (CUstream)7, NULL, NULL);
      for (size_t at = 0; at < bytes; at += 64) memory[at]++;
    }
  }
  printf("{\"calls\":%lld,\"ns\":%.1f}\n", calls, (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - used) / calls);
  return 0;
}
