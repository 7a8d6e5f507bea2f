/*
 * Has the kernel send, splice, copy and fetch pieces of a file, so many times as these numbers say:
 *
 *     moves FILE COPY
 *
 * FILE has 1 MiB at least. 7 sendfile of 5000 bytes, 11 splice of 3001 bytes into a pipe, 5 copy_file_range of 7919 bytes to COPY, 13 readahead of
 * 65536 bytes, 3 posix_fadvise (willneed) of 4096 bytes and 2 from 1000 on to the end, and what is not told: 1 posix_fadvise (dontneed), 1 sendfile that
 * is refused, 1 that finds the end, 1 splice from one pipe to another. Each piece is a whole one, or it ends with an error.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SENT = 7, SPLICED = 11, COPIED = 5, AHEAD = 13, WANTED = 3, WANTED_REST = 2 };

static char drained[1 << 16];

static void whole(ssize_t moved, ssize_t bytes, const char *what) {
  if (moved != bytes) err(1, "%s: %zd of %zd bytes", what, moved, bytes);
}

/* read(2) of a pipe is of no file. */
static void drain(int pipe, ssize_t bytes) {
  for (ssize_t left = bytes; left > 0;) {
    ssize_t got = read(pipe, drained, left);
    if (got <= 0) err(1, "pipe");
    left -= got;
  }
}

int main(int argc, char **argv) {
  if (argc != 3) errx(2, "usage: moves FILE COPY");
  int file = open(argv[1], O_RDONLY), copy = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600), ends[2], other[2];
  struct stat info;
  if (file < 0 || copy < 0 || pipe(ends) != 0 || pipe(other) != 0 || fstat(file, &info) != 0) err(1, "%s, %s", argv[1], argv[2]);
  for (int i = 0; i < SENT; i++) {
    whole(sendfile(ends[1], file, NULL, 5000), 5000, "sendfile");
    drain(ends[0], 5000);
  }
  for (int i = 0; i < SPLICED; i++) {
    whole(splice(file, NULL, ends[1], NULL, 3001, 0), 3001, "splice");
    drain(ends[0], 3001);
  }
  for (int i = 0; i < COPIED; i++) whole(copy_file_range(file, NULL, copy, NULL, 7919, 0), 7919, "copy_file_range");
  for (int i = 0; i < AHEAD; i++)
    if (readahead(file, i * 65536, 65536) != 0) err(1, "readahead");
  for (int i = 0; i < WANTED; i++)
    if ((errno = posix_fadvise(file, 0, 4096, POSIX_FADV_WILLNEED)) != 0) err(1, "posix_fadvise");
  for (int i = 0; i < WANTED_REST; i++)
    if ((errno = posix_fadvise(file, 1000, 0, POSIX_FADV_WILLNEED)) != 0) err(1, "posix_fadvise");

  if (posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) errx(1, "posix_fadvise (dontneed)");
  if (sendfile(-1, file, NULL, 1) != -1) errx(1, "sendfile to nowhere");
  off_t end = info.st_size;
  whole(sendfile(ends[1], file, &end, 1), 0, "sendfile of nothing");
  whole(write(ends[1], "x", 1), 1, "write");
  whole(splice(ends[0], NULL, other[1], NULL, 1, 0), 1, "splice of a pipe");
  return 0;
}
