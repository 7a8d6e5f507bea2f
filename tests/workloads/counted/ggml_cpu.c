/* A stand-in for libggml-cpu: calls ggml_cpu_extra_compute_forward once for each node of a graph. It computes nothing. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Offsets as in ggml.h: op 80, name 256. */
struct tensor {
  int32_t type;
  char before_ne[12];
  int64_t ne[4];
  char before_op[32];
  int32_t op;
  char before_name[172];
  char name[64];
  char rest[16];
};
_Static_assert(__builtin_offsetof(struct tensor, op) == 80 && __builtin_offsetof(struct tensor, name) == 256, "layout of ggml_tensor");

struct params {
  int32_t ith, nth;
  uint64_t work_size;
  void *work_data;
  void *threadpool;
};

struct graph {
  int32_t size, n_nodes;
};

static const char *GGML_OP_NAME[3] = {"NONE", "DUP", "MUL_MAT"};

const char *ggml_op_name(unsigned op) { return GGML_OP_NAME[op]; }

__attribute__((noinline)) int ggml_cpu_extra_compute_forward(struct params *params, struct tensor *tensor) {
  __asm__ volatile("" ::"r"(params), "r"(tensor) : "memory");
  return 0;
}

int ggml_graph_compute(struct graph *graph, void *plan) {
  static struct tensor nodes[64];
  struct params params = {0, 1, 0, NULL, nodes};
  (void)plan;
  for (int32_t i = 0; i < graph->n_nodes && i < 64; i++) {
    nodes[i].op = 1 + i % 2;
    nodes[i].ne[0] = nodes[i].ne[1] = nodes[i].ne[2] = nodes[i].ne[3] = 1;
    snprintf(nodes[i].name, sizeof nodes[i].name, "node-%d", i);
    ggml_cpu_extra_compute_forward(&params, &nodes[i]);
  }
  return 0;
}
