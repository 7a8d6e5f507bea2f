/* The kernel's own account of a thread. */
#pragma once
#include <err.h>
#include <stdint.h>
#include <stdio.h>

#include "clock.h"

/* Nanoseconds for which this one was on a processor, and was ready to run while none did. */
static inline void schedstat(int64_t *on, int64_t *queued) {
  long long a = 0, b = 0;
  /* Asked for this clock, the kernel adds what it has not yet. */
  clock_ns(CLOCK_THREAD_CPUTIME_ID);
  FILE *file = fopen("/proc/thread-self/schedstat", "r");
  if (!file || fscanf(file, "%lld %lld", &a, &b) != 2) err(1, "schedstat");
  fclose(file);
  *on = a, *queued = b;
}

/* Seconds since boot, less those in which this thread was ready and another one ran. */
static inline double on_processor(void) {
  int64_t on, queued;
  schedstat(&on, &queued);
  return (double)(clock_ns(CLOCK_MONOTONIC) - queued) * 1e-9;
}
