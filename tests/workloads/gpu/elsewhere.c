/*
 * Asks the stand-ins for something of streams on GPU 1, made before it says "ready" and waits for the file $GPU_GO, while its thread is on GPU 0:
 *
 *     elsewhere EVENTS COPIES
 *
 * EVENTS times a stream on GPU 1 that nobody has seen a kernel in is told to wait for what another one there was given, and COPIES times one in which a kernel
 * was launched is given a copy. Each time GPU 0 is waited for, which leaves GPU 1 at work; ten milliseconds later this is given a kernel, and waited for: a gap of as
 * long follows.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <time.h>

#include "log.h"

enum { NON_BLOCKING = 1, ON_THE_DEVICE = 3 };

cudaError_t cudaSetDevice(int);
cudaError_t cudaStreamCreateWithFlags(CUstream *, unsigned);
cudaError_t cudaEventCreateWithFlags(CUevent *, unsigned);
cudaError_t cudaEventRecord(CUevent, CUstream);
cudaError_t cudaStreamWaitEvent(CUstream, CUevent, unsigned);
cudaError_t cudaStreamSynchronize(CUstream);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, int, CUstream);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, CUstream);

static void launch(CUstream to) {
  cudaSetDevice(1);
  cudaLaunchKernel(NULL, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, to);
}

static void nap(void) {
  nanosleep(&(struct timespec){0, 10000000}, NULL);
}

int main(int argc, char **argv) {
  const char *go = getenv("GPU_GO");
  if (argc != 3 || !go) errx(2, "usage: GPU_GO=FILE elsewhere EVENTS COPIES");
  CUstream first, waiting;
  CUevent event;
  cudaSetDevice(1);
  cudaStreamCreateWithFlags(&first, NON_BLOCKING);
  cudaStreamCreateWithFlags(&waiting, NON_BLOCKING);
  cudaEventCreateWithFlags(&event, 0);
  printf("ready\n");
  fflush(stdout);
  while (access(go, F_OK) != 0) usleep(10000);
  for (int i = atoi(argv[1]); i > 0; i--) {
    launch(first);
    cudaEventRecord(event, first);
    cudaSetDevice(0);
    cudaStreamWaitEvent(waiting, event, 0);
    cudaDeviceSynchronize();
    nap();
    launch(first);
    cudaStreamSynchronize(first);
    nap();
  }
  for (int i = atoi(argv[2]); i > 0; i--) {
    launch(waiting);
    cudaSetDevice(0);
    cudaMemcpyAsync(NULL, NULL, 64, ON_THE_DEVICE, waiting);
    cudaDeviceSynchronize();
    nap();
    launch(first);
    cudaDeviceSynchronize();
    nap();
  }
  launch(waiting);
  return 0;
}
