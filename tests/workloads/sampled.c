/*
 * A made-up engine that tells for how much of its CPU time it was in each of its functions, for what a timer's samples say of that:
 *
 *     sampled CALLS
 *
 * A call of llama_decode takes ten steps, six in ggml_vec_dot_f32, three in ggml_compute_forward_rms_norm and one in ggml_barrier; behind it, own_work
 * takes two. A step is a chain of multiplications. Those of one round are alike; of another they are between half and one and a half times as long,
 * because rounds that are all alike keep step with the timer. A round takes some 6 ms: a trap in front of it, in which no timer interrupts, is little
 * beside that. Prints the CPU seconds of each function, of all, and the seconds on a processor, in which there is also what a hypervisor took from that.
 * The functions are exported by the program itself, as of an engine that is linked statically; `noipa`: a compiler that sees that two do the same makes
 * one of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "llama_batch.h"
#include "schedstat.h"

/* In a step of this round. */
static long multiplications;

const char *GGML_OP_NAME[] = {"NONE", "ADD", "RMS_NORM", "MUL_MAT"};

static inline __attribute__((always_inline)) void steps(int count) {
  unsigned long chain = 1;
  for (long i = 0; i < count * multiplications; i++) {
    chain *= 0x9e3779b97f4a7c15;
    __asm__ volatile("" : "+r"(chain));
  }
}

__attribute__((noipa)) void ggml_vec_dot_f32(void) { steps(6); }
__attribute__((noipa)) void ggml_compute_forward_rms_norm(void) { steps(3); }
__attribute__((noipa)) void ggml_barrier(void) { steps(1); }
__attribute__((noipa)) void own_work(void) { steps(2); }

struct part {
  const char *name;
  void (*function)(void);
  int64_t ns;
};

static struct part graph[] = {
    {"ggml_vec_dot_f32", ggml_vec_dot_f32, 0},
    {"ggml_compute_forward_rms_norm", ggml_compute_forward_rms_norm, 0},
    {"ggml_barrier", ggml_barrier, 0},
};
static struct part behind = {"own_work", own_work, 0};

static void run(struct part *part) {
  int64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  part->function();
  part->ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
}

__attribute__((noipa)) int ggml_graph_compute(void) {
  for (int i = 0; i < 3; i++) run(&graph[i]);
  return 0;
}

__attribute__((noipa)) int32_t llama_decode(void *context, struct llama_batch batch) {
  (void)context;
  return ggml_graph_compute() + (batch.n_tokens - 1);
}

__attribute__((noipa)) void *llama_model_load_from_file(void *path) { return path; }
__attribute__((noipa)) void *llama_init_from_model(void *model) { return model; }

/* Numbers in no order that a timer could follow, the same in every run (Knuth's multiplicative hashing). */
static long length_of(long round) { return 250000 + (uint32_t)(round * 2654435761u) % 500000; }

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  void *context = llama_init_from_model(llama_model_load_from_file(argv[1]));
  int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  double processor = on_processor();
  for (long call = atol(argv[1]); call > 0; call--) {
    multiplications = length_of(call);
    llama_decode(context, (struct llama_batch){.n_tokens = 1});
    run(&behind);
  }
  cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
  processor = on_processor() - processor;
  for (int i = 0; i < 3; i++) printf("%s %.6f\n", graph[i].name, (double)graph[i].ns * 1e-9);
  printf("%s %.6f\n", behind.name, (double)behind.ns * 1e-9);
  printf("%.6f s of CPU time, %.6f on a processor\n", (double)cpu * 1e-9, processor);
  return 0;
}
