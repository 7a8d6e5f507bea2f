/*
 * Makes system calls whose number and time are known:
 *
 *     syscalls
 *
 * The first thread calls getppid 10007 times, and two others getpgid 1009 and 503 times, and then waits of 3 ms each, 101 and 53 times, in futex. Prints
 * a line for each thread: its number, and the nanoseconds between the clock readings around its waits. None of these is a call that libc makes on its own.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "clock.h"

struct work {
  long questions, waits;
};

static void *others(void *argument) {
  const struct work *work = argument;
  for (long i = 0; i < work->questions; i++) syscall(SYS_getpgid, 0);
  uint32_t word = 1;
  struct timespec limit = {.tv_nsec = 3000000};
  int64_t took = 0;
  for (long i = 0; i < work->waits; i++) {
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &limit, NULL, 0);
    took += clock_ns(CLOCK_MONOTONIC) - begin;
  }
  printf("%ld %lld\n", syscall(SYS_gettid), (long long)took);
  return NULL;
}

int main(void) {
  struct work works[] = {{1009, 101}, {503, 53}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, others, &works[i]);
  for (int i = 0; i < 10007; i++) syscall(SYS_getppid);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d 0\n", getpid());
  return 0;
}
