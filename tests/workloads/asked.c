/*
 * Asks for memory, advises, locks and gives back, so many times as these numbers say, when there is a line on standard input:
 *
 *     asked
 *
 * 211 mappings without a file of 3 pages, 101 of a file of 2 pages, 53 mremap from 3 pages to 5 and back in turn, 307 madvise (dontneed) of 2 pages, 29 madvise (willneed)
 * of 1 page, 13 madvise (dontneed) of an address that is no page's (refused), 17 mlock and 11 munlock of 1 page, 199 munmap of 3 pages, 5 mlockall of what is there, 3 of nothing (refused), and 7 munlockall. No stdio: a buffer
 * would be a mapping, too.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ANONYMOUS = 211, OF_FILE = 101, GROWN = 53, DROPPED = 307, WANTED = 29, REFUSED = 13, LOCKED = 17, UNLOCKED = 11, GIVEN = 199, ALL = 5, NOTHING = 3, FREED = 7 };

static char *mapped[ANONYMOUS], *file[OF_FILE];

int main(int argc, char **argv) {
  char line;
  int fd = open(argv[0], O_RDONLY);
  if (fd < 0 || write(1, "ready\n", 6) != 6 || read(0, &line, 1) != 1) err(1, "%d", argc);
  for (int i = 0; i < ANONYMOUS; i++) {
    mapped[i] = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped[i] == MAP_FAILED) err(1, "mmap");
  }
  for (int i = 0; i < OF_FILE; i++) {
    file[i] = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file[i] == MAP_FAILED) err(1, "mmap of a file");
  }
  /* The last one grows and shrinks: from 3 pages to 5 first. */
  char **last = &mapped[ANONYMOUS - 1];
  for (int i = 0; i < GROWN; i++) {
    *last = mremap(*last, (i % 2 ? 5 : 3) * PAGE, (i % 2 ? 3 : 5) * PAGE, MREMAP_MAYMOVE);
    if (*last == MAP_FAILED) err(1, "mremap");
  }
  for (int i = 0; i < DROPPED; i++)
    if (madvise(mapped[0], 2 * PAGE, MADV_DONTNEED) != 0) err(1, "madvise");
  for (int i = 0; i < WANTED; i++)
    if (madvise(file[0], PAGE, MADV_WILLNEED) != 0) err(1, "madvise of a file");
  for (int i = 0; i < REFUSED; i++)
    if (madvise(mapped[0] + 1, PAGE, MADV_DONTNEED) == 0) errx(1, "madvise of no page");
  for (int i = 0; i < LOCKED; i++)
    if (mlock(mapped[i], PAGE) != 0) err(1, "mlock");
  for (int i = 0; i < UNLOCKED; i++)
    if (munlock(mapped[i], PAGE) != 0) err(1, "munlock");
  for (int i = 0; i < GIVEN; i++)
    if (munmap(mapped[i], 3 * PAGE) != 0) err(1, "munmap");
  for (int i = 0; i < ALL; i++)
    if (mlockall(MCL_CURRENT | MCL_ONFAULT) != 0) err(1, "mlockall");
  for (int i = 0; i < NOTHING; i++)
    if (mlockall(0) == 0) errx(1, "mlockall of nothing");
  for (int i = 0; i < FREED; i++)
    if (munlockall() != 0) err(1, "munlockall");
  return 0;
}
