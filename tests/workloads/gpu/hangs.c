/*
 * Waits for what a GPU never does:
 *
 *     hangs LAUNCHES MILLISECONDS
 *
 * Launches so many kernels and waits for each. Then a thread waits in the runtime for a stream whose work is never done, and another in the driver. The process
 * ends so long afterwards, as a person would end it. Prints on standard error when each began to wait, and when it ended (CLOCK_BOOTTIME):
 * {"waits":12,"at":1000}
 * {"ends":2000}
 */
#define _GNU_SOURCE
#include <err.h>

#include "../clock.h"
#include "log.h"

CUresult cuInit(unsigned);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuStreamSynchronize(CUstream);
cudaError_t cudaStreamSynchronize(CUstream);

static void begin(void) { fprintf(stderr, "{\"waits\":%d,\"at\":%lld}\n", (int)gettid(), (long long)clock_ns(CLOCK_BOOTTIME)); }

static void *by_runtime(void *nothing) {
  (void)nothing;
  begin();
  cudaStreamSynchronize(NEVER);
  return NULL;
}

static void *by_driver(void *nothing) {
  (void)nothing;
  begin();
  cuStreamSynchronize(NEVER);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) errx(2, "usage: hangs LAUNCHES MILLISECONDS");
  cuInit(0);
  const CUstream stream = (CUstream)0x77;
  for (int i = atoi(argv[1]); i > 0; i--) {
    cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    cuStreamSynchronize(stream);
  }
  pthread_t threads[2];
  if (pthread_create(&threads[0], NULL, by_runtime, NULL) != 0 || pthread_create(&threads[1], NULL, by_driver, NULL) != 0) errx(1, "pthread_create");
  usleep(1000 * atoi(argv[2]));
  fprintf(stderr, "{\"ends\":%lld}\n", (long long)clock_ns(CLOCK_BOOTTIME));
  _exit(0);
}
