// Calls a function at the rates that it is told, evenly spaced, and says what the calls cost it.
//
// It announces its process id, then reads lines "<calls a second> <milliseconds> <tag>" from standard input; after each it says in one line
// of JSON how many calls it made in how much time, and the CPU nanoseconds of its thread in a call, beyond what an empty call costs.
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#include "clock.h"

// Begins with `push`, which the kernel emulates: what is measured is the transport and not the instruction.
__attribute__((naked, noinline)) void produced(long tag, long calls, void *where) {
  (void)tag, (void)calls, (void)where;
  __asm__("push %rbp\n pop %rbp\n ret");
}

static void (*volatile probed)(long, long, void *) = produced;

__attribute__((naked, noinline)) static void empty(long tag, long calls, void *where) {
  (void)tag, (void)calls, (void)where;
  __asm__("push %rbp\n pop %rbp\n ret");
}

static void (*volatile unprobed)(long, long, void *) = empty;

// The thread's CPU clock around the call and nothing else: it waits by spinning, and that is no cost.
static int64_t timed(void (*volatile *call)(long, long, void *), long tag, long calls) {
  int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  (*call)(tag, calls, &before);
  return clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

// Reading the clock takes as long as a call: more of them would be no rate, but a busy processor.
#define LOOKS_A_SECOND 20000

int main(void) {
  // Before all others, so that a rate is that rate on a busy machine. Who may not do so is as quick as it can.
  setpriority(PRIO_PROCESS, 0, -20);
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("{\"pid\":%d}\n", getpid());
  long rate, milliseconds, tag;
  while (scanf("%ld %ld %ld", &rate, &milliseconds, &tag) == 3) {
    int64_t begin = clock_ns(CLOCK_MONOTONIC), end = begin + milliseconds * 1000000, cost = 0, none = 0;
    long calls = 0, looks = 0, every = rate > LOOKS_A_SECOND ? rate / LOOKS_A_SECOND : 1;
    // The number of the call gives its time, so that no rounding adds up. Who is late calls as fast as it can.
    while (clock_ns(CLOCK_MONOTONIC) < end) {
      int64_t due = begin + (int64_t)((__int128)calls * 1000000000 / rate);
      if (due >= end) break;
      while (clock_ns(CLOCK_MONOTONIC) < due) continue;
      if (calls % every == 0) {
        // What the clocks themselves cost is measured beside it, in turn before and behind, after a look that brings them into the cache.
        timed(&unprobed, tag, looks);
        if (looks % 2 == 0) none += timed(&unprobed, tag, looks);
        cost += timed(&probed, tag, calls);
        if (looks % 2 == 1) none += timed(&unprobed, tag, looks);
        looks++;
      } else {
        (*probed)(tag, calls, &begin);
      }
      calls++;
    }
    double elapsed = (clock_ns(CLOCK_MONOTONIC) - begin) / 1e6;
    double each = looks ? (double)(cost - none) / looks : 0;
    printf("{\"tag\":%ld,\"calls\":%ld,\"milliseconds\":%.1f,\"nanosecondsPerCall\":%.1f}\n", tag, calls, elapsed, each);
  }
  return 0;
}
