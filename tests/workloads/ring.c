/*
 * Threads in a ring that pass a byte on through pipes, on one processor, so that each pass is a switch:
 *
 *     ring PROCESSOR THREADS ROUNDS
 *
 * Prints on standard error, of each thread, when it passed bytes (CLOCK_BOOTTIME), how often it was switched meanwhile, as getrusage counts it, and how
 * long it was on no processor since it began, by its own clocks; and at last of the main thread, which waits for them, the same:
 * {"tid":12,"from":1000,"to":2000,"voluntary":300,"forced":1,"off":900}
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "book.h"

enum { MOST = 256 };

static int threads, ends[MOST][2];
static long rounds;

/* `first`: from then on it is told how long it was off. */
static void tell(struct book first, struct book before, struct book now) {
  char line[256];
  int length = snprintf(line, sizeof line, "{\"tid\":%d,\"from\":%lld,\"to\":%lld,\"voluntary\":%ld,\"forced\":%ld,\"off\":%lld}\n", (int)gettid(),
                        (long long)before.at, (long long)now.at, now.used.ru_nvcsw - before.used.ru_nvcsw,
                        now.used.ru_nivcsw - before.used.ru_nivcsw, (long long)(now.at - first.at - (now.cpu - first.cpu)));
  if (write(2, line, length) != length) err(1, "standard error");
}

static void *pass(void *place) {
  long i = (long)place;
  char byte = 'x';
  struct book first = book_now(), before = book_rested();
  for (long round = 0; round < rounds; round++) {
    if (i == 0 && write(ends[1 % threads][1], &byte, 1) != 1) err(1, "write");
    if (read(ends[i][0], &byte, 1) != 1) err(1, "read");
    if (i != 0 && write(ends[(i + 1) % threads][1], &byte, 1) != 1) err(1, "write");
  }
  tell(first, before, book_rested());
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4 || (threads = atoi(argv[2])) < 2 || threads > MOST) return 2;
  rounds = atol(argv[3]);
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(atoi(argv[1]), &own);
  if (sched_setaffinity(0, sizeof own, &own) != 0) err(1, "processor %s", argv[1]);
  struct book before = book_now();
  pthread_t ring[MOST];
  for (int i = 0; i < threads; i++) {
    if (pipe(ends[i]) != 0) err(1, "pipe");
  }
  /* The one that begins comes last: all others wait. */
  for (long i = threads - 1; i >= 0; i--) {
    if (pthread_create(&ring[i], NULL, pass, (void *)i) != 0) err(1, "thread");
  }
  for (int i = 0; i < threads; i++) pthread_join(ring[i], NULL);
  tell(before, before, book_now());
  return 0;
}
