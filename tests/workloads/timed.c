/*
 * A made-up engine whose operators take known times, and which keeps a book of them:
 *
 *     timed CALLS LOG [NODES [LAST]]
 *
 * A prompt of five tokens and CALLS tokens, each a call of llama_decode with one graph of seven operators, which begin one behind the other and take between
 * 100 and 1,000 µs, never the same; each is computed from one or two of those before it. The fifth writes over the third, and the last reads it through a
 * view; the sixth writes over the fourth. The graph of a prompt has other shapes than that of a token, and is made anew in the same memory; so is, every
 * 97th token, a graph whose third operator has grown. With NODES, so many are computed at a time, as ggml does for an engine that looks at each result
 * (cb_eval): one part of the graph after another, all by one structure; then times in LOG are not those of slices. With LAST it exits in the middle of a
 * graph, inside of the operator of that number, and leaves no LOG.
 *
 * A clock is read before and behind every trap, so that what a tracer reads in it, however long that takes, lies between. At the end a line for each operator goes into LOG: phase, name, calls, and the fewest and most nanoseconds that can be from its beginnings to those
 * of the next, or to the ends of its graphs. See paced.c for the rest.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "ggml_structs.h"
#include "llama_batch.h"

enum { NODES = 7, PROMPT = 5, GROWS = 97, GROWN = 2 };

const char *GGML_OP_NAME[] = {"NONE", "ADD", "RMS_NORM", "MUL", "VIEW"};
static const int ops[NODES] = {2, 3, 3, 1, 2, 3, 1};
/* What each is computed from: b and c from a, d from both, e from c, f from d, g from e and f. */
static const int sources[NODES][2] = {{-1, -1}, {0, -1}, {0, -1}, {1, 2}, {2, -1}, {3, -1}, {4, 5}};

enum { C = 2, D, E, F, G };

static struct ggml_tensor nodes[NODES], *list[NODES];
static struct ggml_tensor view_of_e = {.op = 4, .ne = {32, 1, 1, 1}, .src = {&nodes[E]}, .view_src = &nodes[C], .name = "nodee-1 (view)"};
static struct {
  long calls;
  int64_t fewest, most;
} book[2][NODES];
static int phase;
static int part = NODES;
static long last;
/* Before and behind the trap of the operator that runs, and before the next one. */
static int64_t began, running, ended;

/* Knuth's multiplicative hashing: the same in every run. */
static int64_t length_of(long number) { return 100000 + (uint32_t)(number * 2654435761u) % 900000; }

/* The operator before has ended. */
static void turn(int node) {
  int64_t now = clock_ns(CLOCK_MONOTONIC);
  if (node > 0) {
    book[phase][node - 1].calls++;
    book[phase][node - 1].fewest += ended - running;
    book[phase][node - 1].most += now - began;
  }
  began = ended;
  running = now;
}

__attribute__((noipa)) void ggml_cpu_extra_compute_forward(struct ggml_compute_params *params, struct ggml_tensor *tensor) {
  (void)params;
  static long number;
  turn(tensor - nodes);
  for (int64_t end = running + length_of(++number); clock_ns(CLOCK_MONOTONIC) < end;) {
  }
  if (number == last) _exit(0);
}

__attribute__((noipa)) int ggml_graph_compute(struct ggml_cgraph *graph, struct ggml_cplan *plan) {
  struct ggml_compute_params params = {.ith = 0, .nth = plan->n_threads, .threadpool = graph};
  for (int i = 0; i < graph->n_nodes; i++) {
    ended = clock_ns(CLOCK_MONOTONIC);
    ggml_cpu_extra_compute_forward(&params, graph->nodes[i]);
  }
  ended = clock_ns(CLOCK_MONOTONIC);
  return 0;
}

__attribute__((noipa)) void ggml_graph_clear(struct ggml_cgraph *graph) { graph->n_nodes = NODES; }
__attribute__((noipa)) void *llama_init_from_model(void *graph) { return graph; }

__attribute__((noipa)) int32_t llama_decode(void *graph, struct llama_batch batch) {
  static int tokens, grown;
  phase = batch.n_tokens == 1;
  if (phase && tokens++ % GROWS == 0) grown = 0, nodes[GROWN].ne[0] += 32;
  if (!phase || !grown) {
    ggml_graph_clear(graph);
    for (int i = 0; i < NODES; i++) nodes[i].ne[1] = batch.n_tokens;
  }
  grown = phase;
  struct ggml_cplan plan = {.n_threads = 1};
  int failed = 0;
  for (int from = 0; from < NODES; from += part) {
    struct ggml_cgraph some = {.n_nodes = from + part < NODES ? part : NODES - from, .nodes = list + from};
    failed |= ggml_graph_compute(&some, &plan) != 0;
  }
  turn(NODES);
  return failed;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  if (argc > 3) part = atoi(argv[3]);
  if (argc > 4) last = atol(argv[4]);
  for (int i = 0; i < NODES; i++) {
    list[i] = &nodes[i];
    nodes[i].op = ops[i];
    for (int d = 0; d < 4; d++) nodes[i].ne[d] = d == 0 ? 32 : 1;
    for (int s = 0; s < 2; s++) nodes[i].src[s] = sources[i][s] < 0 ? NULL : &nodes[sources[i][s]];
    snprintf(nodes[i].name, sizeof nodes[i].name, "node%c-%d", 'a' + i, i / 4);
  }
  nodes[E].view_src = &nodes[C];
  nodes[F].view_src = &nodes[D];
  nodes[G].src[0] = &view_of_e;
  struct ggml_cgraph graph = {.size = NODES, .nodes = list};
  void *context = llama_init_from_model(&graph);
  llama_decode(context, (struct llama_batch){.n_tokens = PROMPT});
  for (long calls = atol(argv[1]); calls > 0; calls--) llama_decode(context, (struct llama_batch){.n_tokens = 1});
  FILE *log = fopen(argv[2], "w");
  if (!log) return 1;
  for (int p = 0; p < 2; p++) {
    for (int i = 0; i < NODES; i++) {
      fprintf(log, "%s %s %ld %lld %lld\n", p ? "decode" : "prefill", nodes[i].name, book[p][i].calls, (long long)book[p][i].fewest, (long long)book[p][i].most);
    }
  }
  return fclose(log);
}
