/* Clocks and pauses of the workloads. */
#pragma once
#include <stdint.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds. */
static inline int64_t clock_ns(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

static inline void nap(int64_t ns) {
  struct timespec left = {ns / 1000000000, ns % 1000000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

/* Until there is a file of that name. */
static inline void wait_for(const char *path) {
  while (access(path, F_OK) != 0) nap(2000000);
}
