/* As in llama.h: larger than two registers, so it travels on the stack. */
#pragma once
#include <stdint.h>

struct llama_batch {
  int32_t n_tokens;
  int32_t *token;
  float *embd;
  int32_t *pos;
  int32_t *n_seq_id;
  int32_t **seq_id;
  int8_t *logits;
};
