/* Waits for a moment, has parcagpu's stand-in tell of so many kernels, and waits again: injected COUNT */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

void tell_kernels(int count);

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  usleep(300000);
  tell_kernels(atoi(argv[1]));
  usleep(300000);
  return 0;
}
