/*
 * Takes a processor for itself, as far as it can get it, until it is told to end (SIGTERM), and keeps a book of that:
 *
 *     hog PROCESSOR
 *
 * Prints `hogging` once it runs there, and at the end a line for each millisecond or so that it ran: the moment (CLOCK_BOOTTIME) and the CPU time that it had
 * used by then, in nanoseconds.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

enum { MOST = 1 << 18, STEP_NS = 1000000 };

static volatile sig_atomic_t is_over;
static int64_t book[MOST][2];

static void end(int signal) { (void)signal, is_over = 1; }

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(atoi(argv[1]), &own);
  if (sched_setaffinity(0, sizeof own, &own) != 0) return 1;
  signal(SIGTERM, end);
  puts("hogging");
  fflush(stdout);
  int lines = 0;
  for (int64_t next = 0; !is_over;) {
    int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (cpu < next || lines == MOST) continue;
    next = cpu + STEP_NS;
    book[lines][0] = clock_ns(CLOCK_BOOTTIME);
    book[lines++][1] = cpu;
  }
  for (int i = 0; i < lines; i++) printf("%lld %lld\n", (long long)book[i][0], (long long)book[i][1]);
  return 0;
}
