/*
 * Computes for two seconds, and is kept from it by one thing:
 *
 *     bottleneck WHAT THREADS [FILE]
 *
 *     crowd     nothing: so many threads compute
 *     pinned    the same, all on processor 1
 *     apart     the same, the first on processor 0, the second on 1, the third on 0, and so on
 *     disk      each reads FILE past the page cache between what it computes
 *     memory    each touches the pages of FILE, mapped, one after another
 *     hoard     each touches 64 MiB of memory of its own first
 *     again     each touches 64 MiB of memory of its own, page by page, again and again
 *     convoy    each computes under one lock, and a fifth as long without it
 *     idle      sleeps
 *
 * Waits for a line on standard input before it begins, so that a control group can take it. Prints how often its threads came around, and of each the
 * kernel's own account, in nanoseconds, the last processor on which it may run, how many these are, and its major page faults:
 * {"tid":12,"on":1000,"queued":2000,"last":1,"processors":2,"major":3}
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "clock.h"
#include "schedstat.h"

enum { BLOCK = 65536, PAGE = 4096, HOARD = 64 << 20 };
static const int64_t LENGTH = 2000000000;

static const char *what, *path;
static int64_t end;
static long rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/** Of `apart`: every thread is on its processor, and every one may begin. */
static pthread_barrier_t placed, told;

static void compute(long steps) {
  for (volatile long i = 0; i < steps; i++) {
  }
}

static void keep_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) err(1, "processor %d", cpu);
}

static void *run(void *number) {
  void *block = NULL;
  int fd = -1;
  off_t size = 0, at = 0;
  const char *map = NULL;
  if (strcmp(what, "apart") == 0) {
    keep_to((long)number % 2);
    pthread_barrier_wait(&placed);
    pthread_barrier_wait(&told);
  }
  if (strcmp(what, "disk") == 0) {
    fd = open(path, O_RDONLY | O_DIRECT);
    if (fd < 0 || posix_memalign(&block, BLOCK, BLOCK) != 0) err(1, "%s", path);
  }
  if (strcmp(what, "memory") == 0) {
    struct stat stat;
    fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &stat) != 0) err(1, "%s", path);
    size = stat.st_size;
    map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED || madvise((void *)map, size, MADV_RANDOM) != 0) err(1, "mmap");
    at = size / 16 * (long)number;
  }
  char *own = strcmp(what, "hoard") == 0 || strcmp(what, "again") == 0 ? malloc(HOARD) : NULL;
  for (long i = 0; own && i < HOARD; i += PAGE) own[i] = 1;
  while (clock_ns(CLOCK_MONOTONIC) < end) {
    if (block && read(fd, block, BLOCK) != BLOCK && lseek(fd, 0, SEEK_SET) != 0) err(1, "read");
    if (map) {
      for (int i = 0; i < 16; i++) (void)*(volatile const char *)(map + at), at = (at + PAGE) % size;
    }
    if (strcmp(what, "again") == 0) {
      for (int i = 0; i < 16; i++) own[at] = 1, at = (at + PAGE) % HOARD;
    }
    if (strcmp(what, "convoy") == 0) {
      pthread_mutex_lock(&lock);
      compute(1000000);
      pthread_mutex_unlock(&lock);
      // Time for who was woken to take it: it would be the same thread's again and again where the others have processors to wake up on.
      compute(200000);
    } else if (strcmp(what, "idle") == 0) nap(100000000);
    else compute(100000);
    __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
  }
  int64_t on, queued;
  schedstat(&on, &queued);
  struct rusage used;
  getrusage(RUSAGE_THREAD, &used);
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) err(1, "sched_getaffinity");
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &allowed)) last--;
  printf("{\"tid\":%d,\"on\":%lld,\"queued\":%lld,\"last\":%d,\"processors\":%d,\"major\":%ld}\n", gettid(), (long long)on, (long long)queued, last,
         CPU_COUNT(&allowed), used.ru_majflt);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  pthread_t threads[64];
  int count = atoi(argv[2]);
  if (count < 1 || count > 64) return 1;
  what = argv[1], path = argc > 3 ? argv[3] : "";
  bool is_apart = strcmp(what, "apart") == 0;
  if (strcmp(what, "pinned") == 0) keep_to(1);
  if (is_apart) {
    pthread_barrier_init(&placed, NULL, count + 1);
    pthread_barrier_init(&told, NULL, count + 1);
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    pthread_barrier_wait(&placed);
  }
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  end = clock_ns(CLOCK_MONOTONIC) + LENGTH;
  if (is_apart) pthread_barrier_wait(&told);
  for (long i = 0; i < count && !is_apart; i++) pthread_create(&threads[i], NULL, run, (void *)i);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  printf("%ld rounds\n", rounds);
  return 0;
}
