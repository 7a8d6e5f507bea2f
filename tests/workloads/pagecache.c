/*
 * What of a file is in the page cache:
 *
 *     pagecache resident FILE   prints the bytes that are there, as mincore(2) says
 *     pagecache drop FILE       writes it back and drops it, this file only, and prints the bytes that stayed
 *     pagecache mmap|mlock|madvise FILE
 *                               has that call bring it there, by a mapping that nobody touches
 *
 * mincore tells the truth about a file only to its owner or to someone who may write it; so run it as the user who made the file.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static long resident(int fd) {
  struct stat file;
  if (fstat(fd, &file) != 0) err(1, "fstat");
  if (file.st_size == 0) return 0;
  long page = sysconf(_SC_PAGESIZE), pages = (file.st_size + page - 1) / page, bytes = 0;
  void *mapped = mmap(NULL, file.st_size, PROT_READ, MAP_SHARED, fd, 0);
  unsigned char *there = malloc(pages);
  if (mapped == MAP_FAILED || there == NULL || mincore(mapped, file.st_size, there) != 0) err(1, "mincore");
  for (long index = 0; index < pages; index++) {
    if (there[index] & 1) bytes += index == pages - 1 ? file.st_size - index * page : page;
  }
  munmap(mapped, file.st_size);
  free(there);
  return bytes;
}

static int is(const char *mode, const char *other) {
  return strcmp(mode, other) == 0;
}

static void fill(int fd, const char *call) {
  struct stat file;
  if (fstat(fd, &file) != 0) err(1, "fstat");
  void *mapped = mmap(NULL, file.st_size, PROT_READ, MAP_SHARED | (is(call, "mmap") ? MAP_POPULATE : 0), fd, 0);
  if (mapped == MAP_FAILED) err(1, "mmap");
  if (is(call, "mlock") && mlock(mapped, file.st_size) != 0) err(1, "mlock");
  if (is(call, "madvise") && madvise(mapped, file.st_size, MADV_POPULATE_READ) != 0) err(1, "madvise");
}

int main(int argc, char **argv) {
  int fills = argc == 3 && (is(argv[1], "mmap") || is(argv[1], "mlock") || is(argv[1], "madvise"));
  if (argc != 3 || (!fills && !is(argv[1], "resident") && !is(argv[1], "drop"))) {
    fprintf(stderr, "usage: pagecache resident|drop|mmap|mlock|madvise FILE\n");
    return 2;
  }
  int fd = open(argv[2], O_RDONLY);
  if (fd < 0) err(1, "%s", argv[2]);
  if (fills) fill(fd, argv[1]);
  if (is(argv[1], "drop")) {
    /* Dirty pages cannot be dropped. */
    if (fsync(fd) != 0) err(1, "fsync");
    int error = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (error != 0) errno = error, err(1, "posix_fadvise");
  }
  printf("%ld\n", resident(fd));
  return 0;
}
