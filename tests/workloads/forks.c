/*
 * Forks a child every 50 ms, and the later the more there are (the 999th after three minutes), until there is a file GO; then each child reads as many bytes
 * of FOLDER/N, its number, one by one, as its number says:
 *
 *     forks FOLDER GO
 *
 * The first child is number 1. Prints how many children there were.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#include "clock.h"

/* Whose other end is closed when the children shall begin. */
static int gate[2];

static void child(const char *folder, int number) {
  char path[4096], byte;
  close(gate[1]);
  if (read(gate[0], &byte, 1) != 0) err(1, "gate");
  snprintf(path, sizeof path, "%s/%d", folder, number);
  int fd = open(path, O_RDONLY);
  for (int i = 0; i < number; i++) {
    if (read(fd, &byte, 1) != 1) err(1, "%s", path);
  }
  _exit(0);
}

int main(int argc, char **argv) {
  if (argc != 3) errx(2, "usage: forks FOLDER GO");
  if (pipe(gate) != 0) err(1, "pipe");
  puts("ready");
  fflush(stdout);
  int children = 0;
  for (; access(argv[2], F_OK) != 0; nap(50000000 + 300000 * children)) {
    if (fork() == 0) child(argv[1], children + 1);
    children++;
  }
  close(gate[1]);
  while (wait(NULL) > 0) {
  }
  printf("%d\n", children);
  return 0;
}
