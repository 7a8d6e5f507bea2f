/*
 * Gives the stand-in driver work in streams that wait for each other, or do not:
 *
 *     streams BEHIND APART DESTROYED
 *
 * BEHIND times a blocking stream is given a kernel, then the default stream, and the default stream is waited for: a gap of ten milliseconds follows. APART
 * times the same with a stream that does not wait for the default stream, which is waited for in the end; and DESTROYED times one that is destroyed at once.
 * Then all is waited for, and after as long it is given one kernel more.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <time.h>

#include "log.h"

enum { BLOCKING = 0, NON_BLOCKING = 1 };

CUresult cuStreamCreate(CUstream *, unsigned);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuStreamSynchronize(CUstream);
CUresult cuCtxSynchronize(void);

static CUstream stream(unsigned flags) {
  CUstream made;
  if (cuStreamCreate(&made, flags) != 0) errx(1, "cuStreamCreate");
  return made;
}

static void launch(CUstream to) {
  cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, to, NULL, NULL);
}

static void nap(void) {
  nanosleep(&(struct timespec){0, 10000000}, NULL);
}

static void common(void) {
  launch(NULL);
  cuStreamSynchronize(NULL);
  nap();
}

int main(int argc, char **argv) {
  if (argc != 4) errx(2, "usage: streams BEHIND APART DESTROYED");
  const CUstream blocking = stream(BLOCKING), apart = stream(NON_BLOCKING);
  for (int i = atoi(argv[1]); i > 0; i--) {
    launch(blocking);
    common();
  }
  for (int i = atoi(argv[2]); i > 0; i--) {
    launch(apart);
    common();
  }
  cuStreamSynchronize(apart);
  for (int i = atoi(argv[3]); i > 0; i--) {
    const CUstream gone = stream(NON_BLOCKING);
    launch(gone);
    cuStreamDestroy_v2(gone);
    common();
  }
  cuCtxSynchronize();
  nap();
  launch(blocking);
  return 0;
}
