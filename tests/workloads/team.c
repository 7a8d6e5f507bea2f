/*
 * A made-up engine whose workers wait for each other, and which knows for how long:
 *
 *     team WORKERS GRAPHS LOG [pinned]
 *
 * Each operator is worked on by all, for a time that differs from worker to worker, with a barrier in the middle and one behind. Before each barrier a
 * worker writes down the time. At the end it writes a line for each worker into LOG: for how many nanoseconds it waited in all for the last to come. See
 * paced.c for the rest.
 *
 * `pinned`: worker N stays on processor N, and all work for as much CPU time as the others: whoever is late was kept from running. Then a line of LOG has, too,
 * for how long the kernel says that the worker was ready and did not run while it had work; and a last line the moments (CLOCK_BOOTTIME) at which all began
 * and ended, and how long worker 0 did not run in between, whatever it had to do.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "ggml_structs.h"
#include "llama_batch.h"

enum { NODES = 6, BARRIERS = 2, MOST_WORKERS = 8 };
/* Unequal, and each worker is the last at some barrier. */
enum { SHORTEST_US = 300, STEP_US = 400, PINNED_US = 3000 };

const char *GGML_OP_NAME[] = {"NONE", "ADD", "MUL_MAT"};

struct ggml_threadpool {
  int workers;
  atomic_int here, passed;
};

static struct ggml_threadpool pool __attribute__((aligned(64)));
static struct ggml_cgraph *work;
static pthread_barrier_t begins;
static uint64_t came[NODES * BARRIERS][MOST_WORKERS], waited[MOST_WORKERS];
static int is_over, is_pinned;
/* Of schedstat, in nanoseconds. */
static int64_t delayed[MOST_WORKERS], in_all[MOST_WORKERS], before_work[MOST_WORKERS];
static int schedstat[MOST_WORKERS];

__attribute__((noipa)) void ggml_barrier(struct ggml_threadpool *team) {
  int round = atomic_load(&team->passed);
  if (atomic_fetch_add(&team->here, 1) == team->workers - 1) {
    atomic_store(&team->here, 0);
    atomic_fetch_add(&team->passed, 1);
  } else {
    while (atomic_load(&team->passed) == round) {
    }
  }
}

static int64_t delay(int worker) {
  char text[64] = "";
  long long ns;
  if (pread(schedstat[worker], text, sizeof text - 1, 0) <= 0 || sscanf(text, "%*d %lld", &ns) != 1) exit(1);
  return ns;
}

static void part(int node, int barrier, int worker) {
  long us = is_pinned ? PINNED_US : SHORTEST_US + (node + barrier + worker) % pool.workers * STEP_US;
  clockid_t clock = is_pinned ? CLOCK_THREAD_CPUTIME_ID : CLOCK_BOOTTIME;
  for (int64_t end = clock_ns(clock) + us * 1000; clock_ns(clock) < end;) {
  }
  if (is_pinned) delayed[worker] += delay(worker) - before_work[worker];
  came[node * BARRIERS + barrier][worker] = clock_ns(CLOCK_BOOTTIME);
}

static void wait_for_all(struct ggml_threadpool *team, int worker) {
  ggml_barrier(team);
  if (is_pinned) before_work[worker] = delay(worker);
}

__attribute__((noipa)) void ggml_cpu_extra_compute_forward(struct ggml_compute_params *params, struct ggml_tensor *tensor) {
  int node = tensor - work->nodes[0];
  part(node, 0, params->ith);
  wait_for_all(params->threadpool, params->ith);
  part(node, 1, params->ith);
}

static void compute(int worker) {
  struct ggml_compute_params params = {.ith = worker, .nth = pool.workers, .threadpool = &pool};
  for (int i = 0; i < work->n_nodes; i++) {
    ggml_cpu_extra_compute_forward(&params, work->nodes[i]);
    wait_for_all(&pool, worker);
  }
}

static void begin(int number) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(number, &own);
  if (!is_pinned) return;
  schedstat[number] = open("/proc/thread-self/schedstat", O_RDONLY);
  if (pthread_setaffinity_np(pthread_self(), sizeof own, &own) != 0) exit(1);
  in_all[number] = -delay(number);
}

/* From before it is woken: that may take a while, too. */
static void begin_graph(int number) {
  if (is_pinned) before_work[number] = delay(number);
  pthread_barrier_wait(&begins);
}

static void *worker(void *number) {
  int own = (int)(intptr_t)number;
  begin(own);
  for (;;) {
    begin_graph(own);
    if (is_over) return NULL;
    compute(own);
  }
}

__attribute__((noipa)) int ggml_graph_compute(struct ggml_cgraph *graph, struct ggml_cplan *plan) {
  (void)plan;
  work = graph;
  begin_graph(0);
  compute(0);
  return 0;
}

static void count_waits(void) {
  for (int i = 0; i < NODES * BARRIERS; i++) {
    uint64_t last = 0;
    for (int w = 0; w < pool.workers; w++) if (came[i][w] > last) last = came[i][w];
    for (int w = 0; w < pool.workers; w++) waited[w] += last - came[i][w];
  }
}

__attribute__((noipa)) int32_t llama_decode(void *graph, struct llama_batch batch) {
  struct ggml_cplan plan = {.n_threads = pool.workers};
  return ggml_graph_compute(graph, &plan) + (batch.n_tokens - 1);
}

__attribute__((noipa)) void ggml_graph_clear(struct ggml_cgraph *graph) { graph->n_nodes = NODES; }
__attribute__((noipa)) void *llama_init_from_model(void *graph) { return graph; }

int main(int argc, char **argv) {
  if (argc < 4 || atoi(argv[1]) > MOST_WORKERS) return 2;
  is_pinned = argc > 4;
  pool.workers = atoi(argv[1]);
  static struct ggml_tensor nodes[NODES], *list[NODES];
  for (int i = 0; i < NODES; i++) {
    list[i] = &nodes[i];
    nodes[i].op = 1 + i % 2;
    for (int d = 0; d < 4; d++) nodes[i].ne[d] = 1;
    snprintf(nodes[i].name, sizeof nodes[i].name, "node-%d", i);
  }
  struct ggml_cgraph graph = {.size = NODES, .nodes = list};
  ggml_graph_clear(&graph);
  void *context = llama_init_from_model(&graph);
  pthread_barrier_init(&begins, NULL, pool.workers);
  pthread_t threads[MOST_WORKERS];
  for (int w = 1; w < pool.workers; w++) pthread_create(&threads[w], NULL, worker, (void *)(intptr_t)w);
  begin(0);
  uint64_t began = clock_ns(CLOCK_BOOTTIME);
  for (int graphs = atoi(argv[2]); graphs > 0; graphs--) {
    llama_decode(context, (struct llama_batch){.n_tokens = 1});
    count_waits();
  }
  if (is_pinned) in_all[0] += delay(0);
  uint64_t ended = clock_ns(CLOCK_BOOTTIME);
  is_over = 1;
  pthread_barrier_wait(&begins);
  for (int w = 1; w < pool.workers; w++) pthread_join(threads[w], NULL);
  FILE *log = fopen(argv[3], "w");
  if (!log) return 1;
  for (int w = 0; w < pool.workers; w++) {
    fprintf(log, "%llu", (unsigned long long)waited[w]);
    if (is_pinned) fprintf(log, " %lld", (long long)delayed[w]);
    fprintf(log, "\n");
  }
  if (is_pinned) fprintf(log, "%llu %llu %lld\n", (unsigned long long)began, (unsigned long long)ended, (long long)in_all[0]);
  return fclose(log);
}
