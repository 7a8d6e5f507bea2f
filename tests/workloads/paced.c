/*
 * A made-up engine that starts operators at a given rate, for figures about what tracing costs the tracer:
 *
 *     paced RATE SECONDS
 *
 * It calls llama_decode, that ggml_graph_compute, and that ggml_cpu_extra_compute_forward for 184 operators in 23 layers, with the arguments
 * and the structures that llmprof's probes read. It computes nothing, and no figure about an engine may ever come from it. The functions are
 * exported by the program itself, as of an engine that is linked statically; `noipa`, because a compiler that sees that they use none of their
 * arguments does not pass any.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "ggml_structs.h"
#include "llama_batch.h"

enum { LAYERS = 23, PER_LAYER = 8, NODES = LAYERS * PER_LAYER };

const char *GGML_OP_NAME[] = {"NONE", "ADD", "RMS_NORM", "MUL_MAT", "ROPE", "SOFT_MAX", "GLU"};
enum { OPS = sizeof GGML_OP_NAME / sizeof *GGML_OP_NAME };

static double next, interval;

/* Seconds. */
static double now(void) { return clock_ns(CLOCK_MONOTONIC) * 1e-9; }

__attribute__((noipa)) void ggml_cpu_extra_compute_forward(struct ggml_compute_params *params, struct ggml_tensor *tensor) {
  (void)params;
  (void)tensor;
  for (next += interval; now() < next;) {
  }
}

__attribute__((noipa)) int ggml_graph_compute(struct ggml_cgraph *graph, struct ggml_cplan *plan) {
  struct ggml_compute_params params = {.ith = 0, .nth = plan->n_threads, .threadpool = graph};
  for (int i = 0; i < graph->n_nodes; i++) ggml_cpu_extra_compute_forward(&params, graph->nodes[i]);
  return 0;
}

__attribute__((noipa)) int32_t llama_decode(void *graph, struct llama_batch batch) {
  struct ggml_cplan plan = {.n_threads = 1};
  return ggml_graph_compute(graph, &plan) + (batch.n_tokens - 1);
}

/* As of a library that makes graphs: see probes/ggml/graph.bt. */
__attribute__((noipa)) void ggml_graph_clear(struct ggml_cgraph *graph) { graph->n_nodes = NODES; }

__attribute__((noipa)) void *llama_init_from_model(void *graph) { return graph; }

/* Where a tensor's name is, as ggml says it: without a frame of its own. */
__attribute__((noipa, optimize("omit-frame-pointer"))) const char *ggml_get_name(const struct ggml_tensor *tensor) { return tensor->name; }

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  interval = 1 / atof(argv[1]);
  static struct ggml_tensor nodes[NODES], *list[NODES], weight = {.ne = {1024, 1024, 1, 1}, .name = "weight"};
  for (int i = 0; i < NODES; i++) {
    list[i] = &nodes[i];
    nodes[i].op = 1 + i % (OPS - 1);
    for (int d = 0; d < 4; d++) nodes[i].ne[d] = d == 0 ? 1024 : 1;
    snprintf(nodes[i].name, sizeof nodes[i].name, "node-%d", i / PER_LAYER);
    /* Where tensors have room as usual they have no sources, and all figures are of such. */
    if (SOURCES == 10 || i == 0) continue;
    bool multiplies = strcmp(GGML_OP_NAME[nodes[i].op], "MUL_MAT") == 0;
    nodes[i].src[0] = multiplies ? &weight : &nodes[i - 1];
    if (multiplies) nodes[i].src[1] = &nodes[i - 1];
  }
  struct ggml_cgraph graph = {.size = NODES, .nodes = list};
  ggml_graph_clear(&graph);
  void *context = llama_init_from_model(&graph);
  printf("running\n");
  fflush(stdout);
  next = now();
  for (double end = next + atof(argv[2]); now() < end;) {
    llama_decode(context, (struct llama_batch){.n_tokens = 1});
    /* What a stop or a busy machine took is not made up for: the rate is never above the one asked for. */
    if (next < now()) next = now();
  }
  return 0;
}
