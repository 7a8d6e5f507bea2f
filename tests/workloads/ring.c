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
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"

enum { MOST = 256, REST = 2000000 };

static int threads, ends[MOST][2];
static long rounds;

struct book {
  int64_t from, cpu;
  struct rusage used;
};

/* All of one moment: it was not switched in between. */
static struct book begin(void) {
  struct book book;
  struct rusage again;
  do {
    getrusage(RUSAGE_THREAD, &book.used);
    book.from = clock_ns(CLOCK_BOOTTIME);
    book.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    getrusage(RUSAGE_THREAD, &again);
  } while (again.ru_nvcsw != book.used.ru_nvcsw || again.ru_nivcsw != book.used.ru_nivcsw);
  return book;
}

/* `first`: from then on it is told how long it was off. */
static void tell(struct book first, struct book before) {
  struct book now = begin();
  char line[256];
  int length = snprintf(line, sizeof line, "{\"tid\":%d,\"from\":%lld,\"to\":%lld,\"voluntary\":%ld,\"forced\":%ld,\"off\":%lld}\n", (int)gettid(),
                        (long long)before.from, (long long)now.from, now.used.ru_nvcsw - before.used.ru_nvcsw,
                        now.used.ru_nivcsw - before.used.ru_nivcsw, (long long)(now.from - first.from - (now.cpu - first.cpu)));
  if (write(2, line, length) != length) err(1, "standard error");
}

static void *pass(void *place) {
  long i = (long)place;
  char byte = 'x';
  struct book first = begin();
  /* Whoever tells short times together begins anew. */
  nap(REST);
  struct book before = begin();
  for (long round = 0; round < rounds; round++) {
    if (i == 0 && write(ends[1 % threads][1], &byte, 1) != 1) err(1, "write");
    if (read(ends[i][0], &byte, 1) != 1) err(1, "read");
    if (i != 0 && write(ends[(i + 1) % threads][1], &byte, 1) != 1) err(1, "write");
  }
  nap(REST);
  tell(first, before);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4 || (threads = atoi(argv[2])) < 2 || threads > MOST) return 2;
  rounds = atol(argv[3]);
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(atoi(argv[1]), &own);
  if (sched_setaffinity(0, sizeof own, &own) != 0) err(1, "processor %s", argv[1]);
  struct book before = begin();
  pthread_t ring[MOST];
  for (int i = 0; i < threads; i++) {
    if (pipe(ends[i]) != 0) err(1, "pipe");
  }
  /* The one that begins comes last: all others wait. */
  for (long i = threads - 1; i >= 0; i--) {
    if (pthread_create(&ring[i], NULL, pass, (void *)i) != 0) err(1, "thread");
  }
  for (int i = 0; i < threads; i++) pthread_join(ring[i], NULL);
  tell(before, before);
  return 0;
}
