/*
 * Goes on without its main thread, once there is a file GO:
 *
 *     headless FILE GO [ON]
 *
 * The main thread ends; half a second later, or once there is a file ON, the other one reads a byte of FILE 211 times, with 5 ms between two, and the process
 * ends with it.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#include "clock.h"

static void *others(void *words) {
  char **argv = words;
  if (argv[3]) wait_for(argv[3]);
  else nap(500000000);
  int fd = open(argv[1], O_RDONLY);
  char byte;
  for (int i = 0; i < 211; i++, nap(5000000)) {
    if (read(fd, &byte, 1) != 1) err(1, "read");
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) errx(2, "usage: headless FILE GO [ON]");
  puts("ready");
  fflush(stdout);
  wait_for(argv[2]);
  pthread_t thread;
  pthread_create(&thread, NULL, others, argv);
  pthread_exit(NULL);
}
