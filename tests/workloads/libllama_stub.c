/*
 * A stand-in for libllama.so, for tests of what llmprof does when the library comes late: it exports llama_decode with the signature of
 * llama.h and burns a known time in it. It computes nothing, and no figure about an engine may ever come from it.
 */
#include <stdint.h>
#include <time.h>

#ifndef BURN_NS
#define BURN_NS 1000000
#endif

/* As in llama.h: larger than two registers, so it travels on the stack. */
struct llama_batch {
  int32_t n_tokens;
  int32_t *token;
  float *embd;
  int32_t *pos;
  int32_t *n_seq_id;
  int32_t **seq_id;
  int8_t *logits;
};

struct llama_context;

static int64_t now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

int32_t llama_decode(struct llama_context *context, struct llama_batch batch) {
  (void)context;
  for (int64_t end = now() + BURN_NS; now() < end;) {
  }
  return batch.n_tokens > 0 ? 0 : -1;
}
