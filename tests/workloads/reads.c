/*
 * Reads files in every way that there is, and keeps a book of each:
 *
 *     reads FOLDER
 *
 * Of `buffered`, `direct` (past the page cache), `mapped` and `ahead` there: the first by read, pread, readv, preadv and preadv2 in turn, in pieces of all
 * sizes; the second by read and pread of whole blocks; the third is mapped twice, and a byte of each page is touched; the fourth is asked for by
 * readahead and then read. For each a JSON line: {"file":"buffered","reads":99,"bytes":5000,"mapped":0,"fetched":0}
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BLOCK = 4096, LARGEST = 70001, FETCHED = 131072 };

static char buffer[LARGEST];
static long size;

static int opened(const char *name, int flags) {
  struct stat info;
  int fd = open(name, O_RDONLY | flags);
  if (fd < 0 || fstat(fd, &info) != 0) err(1, "%s", name);
  size = info.st_size;
  return fd;
}

static void tell(const char *name, long reads, long bytes, long mapped, long fetched) {
  printf("{\"file\":\"%s\",\"reads\":%ld,\"bytes\":%ld,\"mapped\":%ld,\"fetched\":%ld}\n", name, reads, bytes, mapped, fetched);
}

static ssize_t piece(int fd, int way, size_t length, off_t at) {
  struct iovec halves[] = {{buffer, length / 3}, {buffer + length / 3, length - length / 3}};
  switch (way) {
  case 0: return read(fd, buffer, length);
  case 1: return pread(fd, buffer, length, at);
  case 2: return readv(fd, halves, 2);
  case 3: return preadv(fd, halves, 2, at);
  default: return preadv2(fd, halves, 2, at, 0);
  }
}

static void buffered(void) {
  int fd = opened("buffered", 0);
  long reads = 0, bytes = 0;
  for (off_t at = 0; at < size; reads++) {
    if (lseek(fd, at, SEEK_SET) != at) err(1, "lseek");
    ssize_t got = piece(fd, reads % 5, 1 + (reads * 7919) % LARGEST, at);
    if (got <= 0) err(1, "buffered");
    bytes += got, at += got;
  }
  tell("buffered", reads, bytes, 0, 0);
}

static void direct(void) {
  int fd = opened("direct", O_DIRECT);
  void *blocks = aligned_alloc(BLOCK, 16 * BLOCK);
  long reads = 0, bytes = 0;
  for (off_t at = 0; at < size; reads++) {
    size_t length = (1 + reads % 16) * BLOCK;
    ssize_t got = reads % 2 ? pread(fd, blocks, length, at) : (lseek(fd, at, SEEK_SET), read(fd, blocks, length));
    if (got <= 0) err(1, "direct");
    bytes += got, at += got;
  }
  tell("direct", reads, bytes, 0, 0);
}

static void mapped(void) {
  int fd = opened("mapped", 0);
  for (int times = 0; times < 2; times++) {
    volatile const char *at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) err(1, "mmap");
    for (long i = 0; i < size; i += BLOCK) (void)at[i];
  }
  tell("mapped", 0, 0, 2 * size, 0);
}

static void ahead(void) {
  int fd = opened("ahead", 0);
  long reads = 0, bytes = 0, fetched = 0;
  for (off_t at = 0; at + FETCHED <= size; at += FETCHED, fetched += FETCHED) {
    if (readahead(fd, at, FETCHED) != 0) err(1, "readahead");
  }
  for (ssize_t got; (got = read(fd, buffer, 65536)) != 0; reads++, bytes += got) {
    if (got < 0) err(1, "ahead");
  }
  tell("ahead", reads, bytes, 0, fetched);
}

int main(int argc, char **argv) {
  if (argc != 2 || chdir(argv[1]) != 0) err(2, "usage: reads FOLDER");
  buffered();
  direct();
  mapped();
  ahead();
  return 0;
}
