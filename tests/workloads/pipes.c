/*
 * Two processes that pass a byte to and fro through pipes, on one processor, so that each pass is a switch:
 *
 *     pipes PROCESSOR ROUNDS
 *
 * Prints the nanoseconds that a round took, there and back; and on standard error, of each process, when it passed bytes (CLOCK_BOOTTIME) and how often it
 * was switched meanwhile, as getrusage counts it:
 * {"tid":12,"from":1000,"to":2000,"voluntary":300,"forced":1}
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "book.h"

/* For how long, in nanoseconds. */
static int64_t pass(int from, int to, long rounds, int begins) {
  char byte = 'x';
  struct book before = book_rested();
  for (long i = 0; i < rounds; i++) {
    if (begins && write(to, &byte, 1) != 1) err(1, "write");
    if (read(from, &byte, 1) != 1) err(1, "read");
    if (!begins && write(to, &byte, 1) != 1) err(1, "write");
  }
  int64_t end = clock_ns(CLOCK_BOOTTIME);
  struct book after = book_rested();
  fprintf(stderr, "{\"tid\":%d,\"from\":%lld,\"to\":%lld,\"voluntary\":%ld,\"forced\":%ld}\n", (int)getpid(), (long long)before.at,
          (long long)after.at, after.used.ru_nvcsw - before.used.ru_nvcsw, after.used.ru_nivcsw - before.used.ru_nivcsw);
  return end - before.at;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  long rounds = atol(argv[2]);
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(atoi(argv[1]), &own);
  int there[2], back[2];
  if (sched_setaffinity(0, sizeof own, &own) != 0 || pipe(there) != 0 || pipe(back) != 0) err(1, "start");
  pid_t other = fork();
  if (other < 0) err(1, "fork");
  if (other == 0) {
    pass(there[0], back[1], rounds, 0);
    return 0;
  }
  printf("%.1f\n", (double)pass(back[0], there[1], rounds, 1) / rounds);
  return waitpid(other, NULL, 0) == other ? 0 : 1;
}
