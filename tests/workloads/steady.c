/*
 * A target that calls llama_decode of a library at an even pace and keeps its own book, to be compared with what a profiler saw until a fault:
 *
 *     steady --log LOG --library PATH [--wait-file PATH] [--stop-file PATH] [--gap 1000]      call, wait so many microseconds, call …
 *     steady --log LOG --library PATH --threads 10007 --calls 3                               so many threads at once, each calls so often
 *     steady --log LOG --library PATH --forks 3001 --calls 3                                  so many children in turn, each calls so often
 *
 * Steady: the log has one line a call, its start and end in nanoseconds of CLOCK_BOOTTIME, until the stop file is there; then the line
 * `end N`. With threads or forks there is only that line. --wait-file holds everything back, the library too, until that file is there.
 */
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "clock.h"
#include "llama_batch.h"

static int32_t (*decode)(void *, struct llama_batch);
static long calls = 3;
static pthread_barrier_t all;

static int64_t now(void) { return clock_ns(CLOCK_BOOTTIME); }

static void call(void) { decode(NULL, (struct llama_batch){.n_tokens = 1}); }

static void *thread(void *nothing) {
  pthread_barrier_wait(&all);
  for (long i = 0; i < calls; i++) call();
  return nothing;
}

static void run_threads(long count) {
  pthread_t *threads = calloc(count, sizeof *threads);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  pthread_barrier_init(&all, NULL, count);
  for (long i = 0; i < count; i++)
    if ((errno = pthread_create(&threads[i], &small, thread, NULL)) != 0) err(1, "thread");
  for (long i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void run_forks(long count) {
  for (long i = 0; i < count; i++) {
    pid_t child = fork();
    if (child < 0) err(1, "fork");
    if (child == 0) {
      for (long n = 0; n < calls; n++) call();
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
}

int main(int argc, char **argv) {
  const char *log = NULL, *library = NULL, *wait_file = NULL, *stop_file = NULL;
  long gap = 1000, threads = 0, forks = 0;
  static const struct option options[] = {
      {"log", required_argument, 0, 'l'},  {"library", required_argument, 0, 'd'}, {"wait-file", required_argument, 0, 'w'},
      {"stop-file", required_argument, 0, 's'}, {"gap", required_argument, 0, 'g'}, {"threads", required_argument, 0, 't'},
      {"forks", required_argument, 0, 'f'}, {"calls", required_argument, 0, 'c'}, {0, 0, 0, 0},
  };
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == 'l') log = optarg;
    else if (option == 'd') library = optarg;
    else if (option == 'w') wait_file = optarg;
    else if (option == 's') stop_file = optarg;
    else if (option == 'g') gap = atol(optarg);
    else if (option == 't') threads = atol(optarg);
    else if (option == 'f') forks = atol(optarg);
    else if (option == 'c') calls = atol(optarg);
    else return 2;
  }
  if (log == NULL || library == NULL) return 2;
  int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) err(1, "%s", log);
  if (wait_file != NULL) wait_for(wait_file);
  void *handle = dlopen(library, RTLD_NOW);
  if (handle == NULL || (decode = (int32_t(*)(void *, struct llama_batch))dlsym(handle, "llama_decode")) == NULL)
    errx(1, "%s", dlerror());
  long done = 0;
  if (threads > 0) {
    run_threads(threads);
    done = threads * calls;
  } else if (forks > 0) {
    run_forks(forks);
    done = forks * calls;
  } else {
    for (; stop_file == NULL || access(stop_file, F_OK) != 0; done++) {
      int64_t start = now();
      call();
      dprintf(fd, "%ld %ld\n", start, now());
      nap(gap * 1000);
    }
  }
  dprintf(fd, "end %ld\n", done);
  return 0;
}
