/*
 * Launches kernels with the stand-in driver, as evenly as it can:
 *
 *     launching PER_SECOND MILLISECONDS [KIB]          PER_SECOND 0: as fast as it can
 *
 * KIB: before each launch it walks through so much memory, so that a call finds the caches as an engine leaves them, and then as often without a launch: what
 * that takes is none of the launch's time, and differs from one moment to the next more than a launch takes.
 *
 * Prints how many it launched, the CPU time of each in nanoseconds, and that of its thread for each, with all else.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "../clock.h"

typedef struct handle *CUfunction, *CUstream;
int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);

static volatile char *memory;
static size_t bytes;

static void walk(void) {
  for (size_t at = 0; at < bytes; at += 64) memory[at]++;
}

static void launch(void) {
  cuLaunchKernel(NULL, 1, 2, 3, 4, 5, 6, 0, (CUstream)7, NULL, NULL);
}

/* What it takes more to walk and launch than to walk. */
static long long between_walks(void) {
  const long long begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  launch();
  walk();
  const long long launched = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  walk();
  return launched - begin - (clock_ns(CLOCK_THREAD_CPUTIME_ID) - launched);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  bytes = argc > 3 ? (size_t)atoll(argv[3]) << 10 : 0;
  memory = bytes > 0 ? calloc(1, bytes) : NULL;
  const long long rate = atoll(argv[1]), begin = clock_ns(CLOCK_MONOTONIC), end = begin + atoll(argv[2]) * 1000000;
  const long long used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  long long calls = 0, launches = 0;
  for (long long now; (now = clock_ns(CLOCK_MONOTONIC)) < end;) {
    /* A hundred at a time: reading a clock takes as long as a call. */
    const long long due = rate == 0 ? calls + 100 : (now - begin) * rate / 1000000000;
    for (; calls < due; calls++) {
      if (bytes > 0) launches += between_walks();
      else launch();
    }
  }
  const double all = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - used) / calls;
  printf("{\"calls\":%lld,\"ns\":%.1f,\"all\":%.1f}\n", calls, bytes > 0 ? (double)launches / calls : all, all);
  return 0;
}
