/*
 * A program that takes CPU time in its own code and in a library's, and sleeps, for whose code a timer's samples say it is:
 *
 *     busy LIBRARY
 *
 * Prints the CPU seconds of each, of all, and the seconds on a processor, in which there is also what a hypervisor took from that. Built twice: with -DPART
 * it is the library. A step is a chain of multiplications, and asks for no time: what reads a clock is code of the kernel's that is in no file.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#include "schedstat.h"

__attribute__((noipa)) void compute(long steps) {
  unsigned long chain = 1;
  for (long i = 0; i < steps * 1000000; i++) {
    chain *= 0x9e3779b97f4a7c15;
    __asm__ volatile("" : "+r"(chain));
  }
}

#ifndef PART
/* Seconds on a processor that were no CPU time. */
static double taken;

static double seconds(void (*work)(long), long steps) {
  double began = on_processor();
  int64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  work(steps);
  double cpu = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - from) * 1e-9;
  taken += on_processor() - began - cpu;
  return cpu;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  double own = seconds(compute, 1009);
  void *part = dlopen(argv[1], RTLD_NOW);
  if (!part) return 3;
  nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
  double library = seconds((void (*)(long))dlsym(part, "compute"), 503);
  double all = (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) * 1e-9;
  printf("%.6f own, %.6f library, %.6f all, %.6f on a processor\n", own, library, all, all + taken);
  return 0;
}
#endif
