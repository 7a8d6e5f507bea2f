/*
 * A thread that waits for one thing after another, and keeps a book of each:
 *
 *     waits FILE TASKS HOG_PROCESSOR
 *
 * FILE is read past the page cache; TASKS takes the process id of who reads (a control group's file, or /dev/null). Everything happens in a child, so that
 * the kernel's own counters of its threads begin with it. In this order: it moves between processors 0 and 1, reads, waits for another thread (futex),
 * for a record of FILE that another has locked (fcntl), for what another thread gives (semaphore), sleeps, waits for a message of another thread (socket),
 * for its signal (eventfd), in a poll in which it is stopped and goes on, for a message by io_uring, computes on HOG_PROCESSOR until it has waited for that
 * long enough, and yields that one so many times. Prints a JSON line for each: from and to (CLOCK_BOOTTIME), and what was off the processor in between by
 * its own clocks, in nanoseconds. The last line has the kernel's counters of the thread, the moment at which they were read, and how often it left its
 * processor in calls that yield.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "book.h"
#include "schedstat.h"

enum { MOVES = 101, YIELDS = 113, BLOCK = 65536 };
static const int64_t MS = 1000000;

static int futex_word, pair[2], event, locked;
static sem_t given;
enum { FUTEX, RECORD, SEMAPHORE, MESSAGE, EVENT };
static volatile int waker;

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) err(1, "processor %d", cpu);
}

/* Times that it left its processor and still wanted to run, by the kernel's count. */
static int64_t forced(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) err(1, "getrusage");
  return usage.ru_nivcsw;
}

static int64_t began, began_cpu;

static void begin(void) {
  began = clock_ns(CLOCK_BOOTTIME);
  began_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void tell(const char *wait) {
  int64_t now = clock_ns(CLOCK_BOOTTIME), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  printf("{\"wait\":\"%s\",\"from\":%lld,\"to\":%lld,\"off\":%lld,\"waker\":%d}\n", wait, (long long)began, (long long)now,
         (long long)(now - began - (cpu - began_cpu)), waker);
  fflush(stdout);
  waker = 0;
}

/* Of an open file, all of it: threads of one process keep each other out, too. */
static void set_lock(int fd, int type) {
  struct flock all = {.l_type = type, .l_whence = SEEK_SET};
  if (fcntl(fd, F_OFD_SETLKW, &all) != 0) err(1, "fcntl");
}

static void *wake(void *kind) {
  prctl(PR_SET_NAME, "waker");
  waker = gettid();
  switch (*(int *)kind) {
  case FUTEX:
    nap(1100 * MS);
    __atomic_store_n(&futex_word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &futex_word, FUTEX_WAKE, 1, NULL, NULL, 0);
    break;
  case RECORD:
    nap(700 * MS);
    set_lock(locked, F_UNLCK);
    break;
  case SEMAPHORE:
    nap(500 * MS);
    sem_post(&given);
    break;
  case MESSAGE:
    nap(900 * MS);
    if (send(pair[1], "x", 1, 0) != 1) err(1, "send");
    break;
  case EVENT:
    nap(600 * MS);
    if (eventfd_write(event, 1) != 0) err(1, "eventfd_write");
  }
  return NULL;
}

/* A ring that has one request, for a byte of a socket, and has not been told. */
static int ask(int socket, char *byte) {
  struct io_uring_params params = {0};
  int ring = syscall(SYS_io_uring_setup, 1, &params);
  if (ring < 0) err(1, "io_uring_setup");
  int both = PROT_READ | PROT_WRITE;
  char *queue = mmap(NULL, params.sq_off.array + sizeof(uint32_t), both, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  struct io_uring_sqe *entry = mmap(NULL, sizeof *entry, both, MAP_SHARED, ring, IORING_OFF_SQES);
  if (queue == MAP_FAILED || entry == MAP_FAILED) err(1, "io_uring");
  *entry = (struct io_uring_sqe){.opcode = IORING_OP_RECV, .fd = socket, .addr = (uintptr_t)byte, .len = 1};
  *(uint32_t *)(queue + params.sq_off.array) = 0;
  __atomic_store_n((uint32_t *)(queue + params.sq_off.tail), 1, __ATOMIC_RELEASE);
  return ring;
}

/* In `stops` it says when it is to be stopped for a moment. */
static void waits(const char *path, const char *tasks, int hog, int stops) {
  pthread_t helper;
  prctl(PR_SET_NAME, "waits");
  begin();
  for (int i = 1; i <= MOVES; i++) pin(i % 2);
  tell("moves");
  pin(0);

  int group = open(tasks, O_WRONLY);
  if (group < 0 || dprintf(group, "%d", getpid()) < 0) err(1, "%s", tasks);
  int fd = open(path, O_RDONLY | O_DIRECT);
  void *block = NULL;
  if (fd < 0 || posix_memalign(&block, BLOCK, BLOCK) != 0) err(1, "%s", path);
  begin();
  while (clock_ns(CLOCK_BOOTTIME) < began + 700 * MS) {
    if (read(fd, block, BLOCK) != BLOCK && lseek(fd, 0, SEEK_SET) != 0) err(1, "read");
  }
  tell("disk");

  begin();
  pthread_create(&helper, NULL, wake, &(int){FUTEX});
  while (__atomic_load_n(&futex_word, __ATOMIC_SEQ_CST) == 0) syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL, NULL, 0);
  tell("lock");
  pthread_join(helper, NULL);

  if ((locked = open(path, O_RDWR)) < 0) err(1, "%s", path);
  set_lock(locked, F_WRLCK);
  pthread_create(&helper, NULL, wake, &(int){RECORD});
  begin();
  set_lock(fd, F_RDLCK);
  tell("lock");
  pthread_join(helper, NULL);

  sem_init(&given, 0, 0);
  pthread_create(&helper, NULL, wake, &(int){SEMAPHORE});
  begin();
  while (sem_wait(&given) != 0) {
  }
  tell("condition");
  pthread_join(helper, NULL);

  begin();
  nap(1300 * MS);
  tell("sleep");

  char byte;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) err(1, "socketpair");
  pthread_create(&helper, NULL, wake, &(int){MESSAGE});
  begin();
  if (recv(pair[0], &byte, 1, 0) != 1) err(1, "recv");
  tell("network");
  pthread_join(helper, NULL);

  eventfd_t count;
  if ((event = eventfd(0, 0)) < 0) err(1, "eventfd");
  pthread_create(&helper, NULL, wake, &(int){EVENT});
  begin();
  if (eventfd_read(event, &count) != 0) err(1, "eventfd_read");
  tell("events");
  pthread_join(helper, NULL);

  pthread_create(&helper, NULL, wake, &(int){EVENT});
  begin();
  if (write(stops, "x", 1) != 1 || poll(&(struct pollfd){.fd = event, .events = POLLIN}, 1, 60000) != 1) err(1, "poll");
  tell("events");
  pthread_join(helper, NULL);

  int ring = ask(pair[0], &byte);
  pthread_create(&helper, NULL, wake, &(int){MESSAGE});
  begin();
  if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) err(1, "io_uring_enter");
  tell("io_uring");
  pthread_join(helper, NULL);

  pin(hog);
  int64_t on, queued, first;
  schedstat(&on, &first);
  begin();
  do {
    for (volatile int i = 0; i < 10000000; i++) {
    }
    schedstat(&on, &queued);
  } while (queued - first < 800 * MS);
  tell("preempted");

  /* Who is alone on a processor keeps it. */
  int64_t yields = 0;
  begin();
  while (yields < YIELDS) {
    int64_t before = forced();
    sched_yield();
    yields += forced() - before;
  }
  tell("yielded");

  schedstat(&on, &queued);
  struct book now = book_now();
  printf("{\"tid\":%d,\"at\":%lld,\"on\":%lld,\"queued\":%lld,\"voluntary\":%ld,\"forced\":%ld,\"moves\":%d,\"yields\":%lld}\n", gettid(),
         (long long)now.at, (long long)on, (long long)queued, now.used.ru_nvcsw, now.used.ru_nivcsw, MOVES, (long long)yields);
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  /* Nobody else moves the child. */
  pin(0);
  int stops[2], status;
  if (pipe(stops) != 0) err(1, "pipe");
  pid_t child = fork();
  if (child < 0) err(1, "fork");
  if (child == 0) {
    waits(argv[1], argv[2], atoi(argv[3]), stops[1]);
    return 0;
  }
  close(stops[1]);
  if (read(stops[0], &(char){0}, 1) == 1) {
    nap(200 * MS);
    kill(child, SIGSTOP);
    nap(100 * MS);
    kill(child, SIGCONT);
  }
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
