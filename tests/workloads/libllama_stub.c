/*
 * A stand-in for libllama.so, for tests of what llmprof does when the library comes late: it exports llama_decode with the signature of
 * llama.h and burns a known time in it. It computes nothing, and no figure about an engine may ever come from it.
 */
#include "clock.h"
#include "llama_batch.h"

#ifndef BURN_NS
#define BURN_NS 1000000
#endif

struct llama_context;

static int64_t now(void) { return clock_ns(CLOCK_MONOTONIC); }

int32_t llama_decode(struct llama_context *context, struct llama_batch batch) {
  (void)context;
  for (int64_t end = now() + BURN_NS; now() < end;) {
  }
  return batch.n_tokens > 0 ? 0 : -1;
}
