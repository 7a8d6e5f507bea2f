/* What ggml hands to its CPU backend, as far as llmprof's probes read it: offsets are those of ggml.h (see probes/ggml/ops.bt and graph.bt). */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifndef SOURCES
#define SOURCES 10
#endif

struct ggml_tensor {
  int32_t type;
  char before_ne[12];
  int64_t ne[4];
#ifdef CHANGED
  /* As of a ggml that nobody has seen yet. */
  int64_t one_more;
#endif
  char before_op[32];
  int32_t op;
  char before_src[68];
#ifdef GRADIENT
  struct ggml_tensor *grad;
#endif
  struct ggml_tensor *src[SOURCES];
  struct ggml_tensor *view_src;
  char before_name[16];
  char name[64];
  char rest[16];
};
struct ggml_compute_params {
  int32_t ith, nth;
  char before_threadpool[16];
  void *threadpool;
};
struct ggml_cgraph {
  int32_t size, n_nodes, n_leafs;
  struct ggml_tensor **nodes;
};
struct ggml_cplan {
  char before_n_threads[16];
  int32_t n_threads;
};

_Static_assert(offsetof(struct ggml_cgraph, nodes) == 16, "as ggml has it");
#if !defined CHANGED && SOURCES == 10
_Static_assert(offsetof(struct ggml_tensor, op) == 80 && offsetof(struct ggml_tensor, src) == 152, "as ggml has them");
_Static_assert(offsetof(struct ggml_tensor, name) == 256, "as ggml has it");
_Static_assert(sizeof(struct ggml_tensor) == 336, "as ggml has it");
#endif
