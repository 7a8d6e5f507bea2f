/*
 * Gives the stand-in driver work in streams that wait for each other, by events or because CUDA has them do so, in an order that is drawn:
 *
 *     ordered CALLS SEED
 *
 * It reckons, kernel by kernel, what is done when somebody has waited. Prints which kernels, counted from 0, a GPU had been left without work before.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>

#include "log.h"

/* The default stream, two that wait for it, and three that do not. */
enum { STREAMS = 6, BLOCKING = 2, EVENTS = 4, NON_BLOCKING = 1 };

CUresult cuStreamCreate(CUstream *, unsigned);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cuStreamSynchronize(CUstream);
CUresult cuEventCreate(CUevent *, unsigned);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventSynchronize(CUevent);
CUresult cuCtxSynchronize(void);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
cudaError_t cudaStreamCreateWithFlags(CUstream *, unsigned);
cudaError_t cudaStreamWaitEvent(CUstream, CUevent, unsigned);
cudaError_t cudaStreamSynchronize(CUstream);
cudaError_t cudaEventRecord(CUevent, CUstream);
cudaError_t cudaEventSynchronize(CUevent);

/* Of each stream, how many of its kernels are done. */
typedef struct {
  int done[STREAMS];
} Reached;

static CUstream handles[STREAMS];
static CUevent event_handles[EVENTS];
static Reached streams[STREAMS], events[EVENTS], host;
static int given[STREAMS];

static void join(Reached *to, const Reached *from) {
  for (int i = 0; i < STREAMS; i++)
    if (from->done[i] > to->done[i]) to->done[i] = from->done[i];
}

/* What is done when it is the turn of the next that a stream is asked for. */
static Reached turn(int stream) {
  Reached reached = streams[stream];
  for (int i = 1; stream == 0 && i <= BLOCKING; i++) join(&reached, &streams[i]);
  if (stream >= 1 && stream <= BLOCKING) join(&reached, &streams[0]);
  return reached;
}

static int is_idle(void) {
  for (int i = 0; i < STREAMS; i++)
    if (host.done[i] < given[i]) return 0;
  return 1;
}

static void launch(int stream) {
  cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, handles[stream], NULL, NULL);
  streams[stream] = turn(stream);
  streams[stream].done[stream] = ++given[stream];
}

static void record(int event, int stream, int by_runtime) {
  (by_runtime ? cudaEventRecord : cuEventRecord)(event_handles[event], handles[stream]);
  events[event] = turn(stream);
}

static void let_wait(int stream, int event, int by_runtime) {
  (by_runtime ? cudaStreamWaitEvent : cuStreamWaitEvent)(handles[stream], event_handles[event], 0);
  streams[stream] = turn(stream);
  join(&streams[stream], &events[event]);
}

static void wait_for_stream(int stream, int by_runtime) {
  (by_runtime ? cudaStreamSynchronize : cuStreamSynchronize)(handles[stream]);
  join(&host, &streams[stream]);
}

static void wait_for_event(int event, int by_runtime) {
  (by_runtime ? cudaEventSynchronize : cuEventSynchronize)(event_handles[event]);
  join(&host, &events[event]);
}

static void wait_for_all(void) {
  cuCtxSynchronize();
  for (int i = 0; i < STREAMS; i++) join(&host, &streams[i]);
}

int main(int argc, char **argv) {
  if (argc != 3) errx(2, "usage: ordered CALLS SEED");
  unsigned seed = atoi(argv[2]);
  for (int i = 1; i < STREAMS; i++) (i % 2 ? cuStreamCreate : cudaStreamCreateWithFlags)(&handles[i], i <= BLOCKING ? 0 : NON_BLOCKING);
  for (int i = 0; i < EVENTS; i++) {
    cuEventCreate(&event_handles[i], 0);
    record(i, i, 0);
  }
  printf("{\"after gaps\":[");
  int launches = 0, gaps = 0, idle = 0;
  for (int i = atoi(argv[1]); i > 0; i--) {
    const int stream = rand_r(&seed) % STREAMS, event = rand_r(&seed) % EVENTS, by_runtime = rand_r(&seed) % 2, what = rand_r(&seed) % 100;
    if (what < 15) {
      if (idle) printf("%s%d", gaps++ ? "," : "", launches);
      idle = 0;
      launches++;
      launch(stream);
    } else if (what < 40) record(event, stream, by_runtime);
    else if (what < 65) let_wait(stream, event, by_runtime);
    else {
      if (what < 82) wait_for_stream(stream, by_runtime);
      else if (what < 99) wait_for_event(event, by_runtime);
      else wait_for_all();
      if (is_idle()) idle = 1;
    }
  }
  printf("],\"launches\":%d}\n", launches);
  return 0;
}
