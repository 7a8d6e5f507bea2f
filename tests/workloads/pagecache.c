/*
 * What of a file is in the page cache:
 *
 *     pagecache resident FILE   prints the bytes that are there, as mincore(2) says
 *     pagecache drop FILE       writes it back and drops it, this file only, and prints the bytes that stayed
 *
 * mincore tells the truth about a file only to its owner or to someone who may write it; so run it as the user who made the file.
 */
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

int main(int argc, char **argv) {
  if (argc != 3 || (strcmp(argv[1], "resident") != 0 && strcmp(argv[1], "drop") != 0)) {
    fprintf(stderr, "usage: pagecache resident|drop FILE\n");
    return 2;
  }
  int fd = open(argv[2], O_RDONLY);
  if (fd < 0) err(1, "%s", argv[2]);
  if (strcmp(argv[1], "drop") == 0) {
    /* Dirty pages cannot be dropped. */
    if (fsync(fd) != 0) err(1, "fsync");
    int error = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (error != 0) errno = error, err(1, "posix_fadvise");
  }
  printf("%ld\n", resident(fd));
  return 0;
}
