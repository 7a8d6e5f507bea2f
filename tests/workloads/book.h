/* What the kernel has counted of a thread by a moment. */
#pragma once
#include <sys/resource.h>

#include "clock.h"

struct book {
  /* CLOCK_BOOTTIME, and CPU time by then. */
  int64_t at, cpu;
  struct rusage used;
};

/* All of one moment: the thread was not switched in between. */
static inline struct book book_now(void) {
  struct book book;
  struct rusage again;
  do {
    getrusage(RUSAGE_THREAD, &book.used);
    book.at = clock_ns(CLOCK_BOOTTIME);
    book.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    getrusage(RUSAGE_THREAD, &again);
  } while (again.ru_nvcsw != book.used.ru_nvcsw || again.ru_nivcsw != book.used.ru_nivcsw);
  return book;
}

/* The same, behind a pause: whoever tells short times together begins anew. */
static inline struct book book_rested(void) {
  nap(2000000);
  return book_now();
}
