/*
 * A made-up engine that is in each of its functions for a known part of its CPU time, for what a timer's samples say of it:
 *
 *     sampled CALLS
 *
 * A call of llama_decode takes ten steps, six in ggml_vec_dot_f32, three in ggml_compute_forward_rms_norm and one in ggml_barrier; behind it, own_work
 * takes two. Steps are alike: a chain of multiplications, which no alignment makes slower. Prints the CPU seconds that all of it took. The functions are
 * exported by the program itself, as of an engine that is linked statically; `noipa`: a compiler that sees that two do the same makes one of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "llama_batch.h"

enum { MULTIPLICATIONS = 100000 };

const char *GGML_OP_NAME[] = {"NONE", "ADD", "RMS_NORM", "MUL_MAT"};

static inline __attribute__((always_inline)) void steps(int count) {
  unsigned long chain = 1;
  for (long i = 0; i < (long)count * MULTIPLICATIONS; i++) {
    chain *= 3;
    __asm__ volatile("" : "+r"(chain));
  }
}

__attribute__((noipa)) void ggml_vec_dot_f32(void) { steps(6); }
__attribute__((noipa)) void ggml_compute_forward_rms_norm(void) { steps(3); }
__attribute__((noipa)) void ggml_barrier(void) { steps(1); }
__attribute__((noipa)) void own_work(void) { steps(2); }

__attribute__((noipa)) int ggml_graph_compute(void) {
  ggml_vec_dot_f32();
  ggml_compute_forward_rms_norm();
  ggml_barrier();
  return 0;
}

__attribute__((noipa)) int32_t llama_decode(void *context, struct llama_batch batch) {
  (void)context;
  return ggml_graph_compute() + (batch.n_tokens - 1);
}

__attribute__((noipa)) void *llama_model_load_from_file(void *path) { return path; }
__attribute__((noipa)) void *llama_init_from_model(void *model) { return model; }

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  void *context = llama_init_from_model(llama_model_load_from_file(argv[1]));
  double begin = cpu();
  for (long call = atol(argv[1]); call > 0; call--) {
    llama_decode(context, (struct llama_batch){.n_tokens = 1});
    own_work();
  }
  printf("%.6f\n", cpu() - begin);
  return 0;
}
