/*
 * A target with planted phases, to be found again by a profiler. Phases run in the order of the command line:
 *
 *     planted --log LOG [--wait-file PATH] [--read-file PATH] [--map-file PATH] [--library PATH] [--calls 97] PHASE...
 *
 *     read    open the file and read it to its end, 1 MiB at a time
 *     map     map the file and touch each of its pages
 *     lock    mlock 17 MiB
 *     listen  a socket on a free port of 127.0.0.1 begins to listen, and accepts 7 connections
 *     sleep   half a second in which nothing happens
 *     load    dlopen the library and at once call its llama_decode --calls times, the first with 23 tokens, then with 1
 *
 * The log has one JSON line a phase: its start and end in nanoseconds of CLOCK_BOOTTIME, and what it did. The first line, `main`, says when
 * main began; the last, `exit`, when it ended.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "clock.h"
#include "llama_batch.h"

enum { MIB = 1 << 20, LOCKED = 17 * MIB, SLEEP_MS = 500, PROMPT = 23, ACCEPTED = 7 };

static const char *read_file, *map_file, *library;
static long calls = 97;
static int log_fd = -1;

static int64_t now(void) { return clock_ns(CLOCK_BOOTTIME); }

/* One write(2) a line: a line is in the file whole or not at all, even if the process is killed. */
static void say(const char *format, ...) {
  char line[256];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  if (write(log_fd, line, length) != length) err(1, "log");
}

/* What a phase did beyond its times; joined to its line. */
static char did[160];

static void phase_read(void) {
  static char chunk[MIB];
  int64_t total = 0;
  ssize_t got;
  int fd = open(read_file, O_RDONLY);
  if (fd < 0) err(1, "%s", read_file);
  while ((got = read(fd, chunk, sizeof chunk)) > 0) total += got;
  if (got < 0) err(1, "%s", read_file);
  close(fd);
  snprintf(did, sizeof did, ",\"bytes\":%ld", total);
}

static void phase_map(void) {
  struct stat file;
  int fd = open(map_file, O_RDONLY);
  if (fd < 0 || fstat(fd, &file) != 0) err(1, "%s", map_file);
  volatile char *bytes = mmap(NULL, file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED) err(1, "%s", map_file);
  close(fd);
  for (off_t at = 0; at < file.st_size; at += 4096) (void)bytes[at];
  snprintf(did, sizeof did, ",\"bytes\":%ld", (long)file.st_size);
}

static void phase_lock(void) {
  void *memory = mmap(NULL, LOCKED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) err(1, "memory to lock");
  /* Refused to those without the right and above the limit: an answer too. */
  int error = mlock(memory, LOCKED) == 0 ? 0 : errno;
  snprintf(did, sizeof did, ",\"bytes\":%d,\"errno\":%d", LOCKED, error);
}

static void phase_listen(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, 16) != 0) err(1, "listen");
  getsockname(fd, (struct sockaddr *)&address, &length);
  for (int i = 0; i < ACCEPTED; i++) {
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (client < 0 || connect(client, (struct sockaddr *)&address, length) != 0 || accept(fd, NULL, NULL) < 0) err(1, "accept");
  }
  snprintf(did, sizeof did, ",\"port\":%d,\"accepted\":%d", ntohs(address.sin_port), ACCEPTED);
}

static void phase_sleep(void) { nap(SLEEP_MS * INT64_C(1000000)); }

static void phase_load(void) {
  void *handle = dlopen(library, RTLD_NOW);
  if (handle == NULL) errx(1, "%s", dlerror());
  int32_t (*decode)(void *, struct llama_batch) = (int32_t(*)(void *, struct llama_batch))dlsym(handle, "llama_decode");
  if (decode == NULL) errx(1, "%s", dlerror());
  int64_t loaded = now();
  for (long call = 0; call < calls; call++) decode(NULL, (struct llama_batch){.n_tokens = call == 0 ? PROMPT : 1});
  snprintf(did, sizeof did, ",\"loaded\":\"%ld\",\"calls\":%ld,\"tokens\":%ld", loaded, calls, PROMPT + calls - 1);
}

static const struct {
  const char *name;
  void (*run)(void);
  const char **file;
} phases[] = {
    {"read", phase_read, &read_file}, {"map", phase_map, &map_file}, {"lock", phase_lock, NULL},
    {"listen", phase_listen, NULL},   {"sleep", phase_sleep, NULL},  {"load", phase_load, &library},
};

static void run_phase(const char *name) {
  for (size_t index = 0; index < sizeof phases / sizeof *phases; index++) {
    if (strcmp(phases[index].name, name) != 0) continue;
    if (phases[index].file != NULL && *phases[index].file == NULL) errx(2, "the phase %s needs its file", name);
    did[0] = '\0';
    int64_t start = now();
    phases[index].run();
    int64_t end = now();
    say("{\"phase\":\"%s\",\"start\":\"%ld\",\"end\":\"%ld\"%s}\n", name, start, end, did);
    return;
  }
  errx(2, "no phase is called %s", name);
}

int main(int argc, char **argv) {
  int64_t begin = now();
  const char *wait_file = NULL, *log = NULL;
  static const struct option options[] = {
      {"log", required_argument, 0, 'l'},      {"wait-file", required_argument, 0, 'w'}, {"read-file", required_argument, 0, 'r'},
      {"map-file", required_argument, 0, 'm'}, {"library", required_argument, 0, 'd'},   {"calls", required_argument, 0, 'c'},
      {0, 0, 0, 0},
  };
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == 'l') log = optarg;
    else if (option == 'w') wait_file = optarg;
    else if (option == 'r') read_file = optarg;
    else if (option == 'm') map_file = optarg;
    else if (option == 'd') library = optarg;
    else if (option == 'c') calls = atol(optarg);
    else return 2;
  }
  if (log == NULL) errx(2, "--log is missing");
  log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (log_fd < 0) err(1, "%s", log);
  say("{\"phase\":\"main\",\"pid\":%d,\"start\":\"%ld\",\"end\":\"%ld\"}\n", getpid(), begin, now());
  if (wait_file != NULL) wait_for(wait_file);
  for (int index = optind; index < argc; index++) run_phase(argv[index]);
  int64_t end = now();
  say("{\"phase\":\"exit\",\"start\":\"%ld\",\"end\":\"%ld\"}\n", end, end);
  return 0;
}
