/* A stand-in for libggml-cpu: calls ggml_cpu_extra_compute_forward once for each node of a graph. It computes nothing. */
#include <stdio.h>
#include <string.h>

#include "../ggml_structs.h"

#ifdef LARGE
/* Nobody looks into what is too small to hold an engine. */
const char engine[600 << 10] = "as large as one";
#endif

static const char *GGML_OP_NAME[3] = {"NONE", "DUP", "MUL_MAT"};

const char *ggml_op_name(unsigned op) { return GGML_OP_NAME[op]; }

__attribute__((noinline)) int ggml_cpu_extra_compute_forward(struct ggml_compute_params *params, struct ggml_tensor *tensor) {
  __asm__ volatile("" ::"r"(params), "r"(tensor) : "memory");
  return 0;
}

int ggml_graph_compute(struct ggml_cgraph *graph, struct ggml_cplan *plan) {
  static struct ggml_tensor nodes[64];
  struct ggml_compute_params params = {.ith = 0, .nth = plan->n_threads, .threadpool = nodes};
  for (int32_t i = 0; i < graph->n_nodes && i < 64; i++) {
    nodes[i].op = 1 + i % 2;
    nodes[i].ne[0] = nodes[i].ne[1] = nodes[i].ne[2] = nodes[i].ne[3] = 1;
    snprintf(nodes[i].name, sizeof nodes[i].name, "node-%d", i);
    ggml_cpu_extra_compute_forward(&params, &nodes[i]);
  }
  return 0;
}
