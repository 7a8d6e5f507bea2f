/*
 * Touches a file that it has mapped, a byte at each of the given places, without read-ahead:
 *
 *     touched FILE PLACES [WAIT]
 *
 * PLACES holds offsets of 64 bits. With WAIT it has mapped the file when it prints `mapped`, and begins when there is a file of that name. At its end it
 * prints its page faults meanwhile, as getrusage counts them, and of each place which it made (-: none, m: minor, M: major):
 * {"minor":2,"major":1,"places":"mM-m"}
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "clock.h"

static const char *mapped(const char *path, long *bytes) {
  int fd = open(path, O_RDONLY);
  struct stat file;
  if (fd < 0 || fstat(fd, &file) != 0) err(1, "%s", path);
  const char *at = mmap(NULL, file.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) err(1, "mmap");
  *bytes = file.st_size;
  return at;
}

int main(int argc, char **argv) {
  if (argc < 3) errx(2, "usage: touched FILE PLACES [WAIT]");
  long bytes, size;
  const uint64_t *read_only = (const uint64_t *)mapped(argv[2], &bytes);
  long count = bytes / sizeof(uint64_t);
  uint64_t *places = malloc(bytes);
  char *kinds = calloc(count + 1, 1);
  for (long i = 0; i < count; i++) places[i] = read_only[i], kinds[i] = '-';
  const volatile char *file = mapped(argv[1], &size);
  if (madvise((void *)file, size, MADV_RANDOM) != 0) err(1, "madvise");
  if (argc > 3) {
    puts("mapped");
    fflush(stdout);
    wait_for(argv[3]);
  }
  struct rusage before, first, now;
  getrusage(RUSAGE_SELF, &first);
  before = first;
  for (long i = 0; i < count; i++) {
    (void)file[places[i]];
    getrusage(RUSAGE_SELF, &now);
    if (now.ru_minflt > before.ru_minflt) kinds[i] = 'm';
    if (now.ru_majflt > before.ru_majflt) kinds[i] = 'M';
    before = now;
  }
  fprintf(stderr, "{\"minor\":%ld,\"major\":%ld,\"places\":\"%s\"}\n", before.ru_minflt - first.ru_minflt, before.ru_majflt - first.ru_majflt, kinds);
  /* A model is not gone at once. */
  nap(500000000);
  return 0;
}
