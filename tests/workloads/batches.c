/*
 * A made-up engine that hands batches to llama.cpp in both of its ways, for tests of what llmprof makes of them:
 *
 *     batches
 *
 * When there is a line on standard input it calls
 *
 *     through llama_decode, with `logits` for each token: a prompt of 37, whose last token wants logits; 101 times one token; 11 times three, of three
 *     sequences; a prompt of 29 beside two that generate; 5 times 19, of as many sequences; a prompt of 41 beside 19 that generate (llmprof looks at 16);
 *     a text of 17 to embed, of which each token wants its output
 *     through llama_process: the same but with 18 beside 41; 7 encodes of 13 tokens; and one token that is refused
 *
 * with places in a sequence that go on from call to call, but for the text to embed. A batch is a few numbers here, not what it is in llama.cpp, because
 * llmprof must not depend on that. The functions are exported by the program itself. It computes nothing, and no figure about an engine may ever come
 * from it.
 */
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "llama_batch.h"

#define EXPORTED __attribute__((noipa))

enum { MOST = 64, ENCODE = 0, DECODE = 1, REFUSED = 1 };

struct llama_batch_ext {
  int32_t tokens, refuse;
};

EXPORTED int32_t llama_decode(void *context, struct llama_batch batch) { return context != NULL && batch.n_tokens > 0 ? 0 : -1; }

EXPORTED void llama_batch_ext_clear(struct llama_batch_ext *batch) { batch->tokens = 0; }

EXPORTED int32_t llama_batch_ext_add_token(struct llama_batch_ext *batch, int32_t sequence, int32_t token) {
  return sequence < 0 || token < 0 ? -1 : batch->tokens++;
}

EXPORTED bool llama_batch_ext_set_pos(struct llama_batch_ext *batch, int32_t index, const int32_t *position) {
  return index < batch->tokens && *position >= 0;
}

EXPORTED bool llama_batch_ext_set_output_logits(struct llama_batch_ext *batch, int32_t index, bool value) { return value && index < batch->tokens; }

EXPORTED int32_t llama_process(void *context, int type, struct llama_batch_ext *batch) {
  return context != NULL && type <= DECODE && batch->tokens > 0 ? batch->refuse : -1;
}

static int context, place;

static int from_the_beginning(void) {
  int kept = place;
  place = 0;
  return kept;
}

/* `generating` tokens that want logits, then a prompt of which the last one does. */
static void by_value(int generating, int prompt) {
  static int32_t positions[MOST];
  static int8_t logits[MOST];
  int tokens = generating + prompt;
  for (int i = 0; i < tokens; i++) {
    positions[i] = place++;
    logits[i] = i < generating || i == tokens - 1;
  }
  if (llama_decode(&context, (struct llama_batch){.n_tokens = tokens, .pos = positions, .logits = logits}) != 0) errx(1, "llama_decode");
}

static void by_pointer(int type, int generating, int prompt, int refuse) {
  static struct llama_batch_ext *batch;
  if (batch == NULL) batch = calloc(1, sizeof *batch);
  batch->refuse = refuse;
  llama_batch_ext_clear(batch);
  for (int i = 0; i < generating + prompt; i++) {
    int index = llama_batch_ext_add_token(batch, 0, i);
    if (!llama_batch_ext_set_pos(batch, index, &place)) errx(1, "llama_batch_ext_set_pos");
    place++;
    if (i < generating || i == generating + prompt - 1) llama_batch_ext_set_output_logits(batch, index, true);
  }
  if (llama_process(&context, type, batch) != refuse) errx(1, "llama_process");
}

int main(void) {
  char line;
  if (write(1, "ready\n", 6) != 6 || read(0, &line, 1) != 1) err(1, "standard input");
  by_value(0, 37);
  for (int i = 0; i < 101; i++) by_value(1, 0);
  for (int i = 0; i < 11; i++) by_value(3, 0);
  by_value(2, 29);
  for (int i = 0; i < 5; i++) by_value(19, 0);
  by_value(19, 41);
  int kept = from_the_beginning();
  by_value(17, 0);
  place = kept;

  by_pointer(DECODE, 0, 37, 0);
  for (int i = 0; i < 101; i++) by_pointer(DECODE, 1, 0, 0);
  for (int i = 0; i < 11; i++) by_pointer(DECODE, 3, 0, 0);
  by_pointer(DECODE, 2, 29, 0);
  for (int i = 0; i < 5; i++) by_pointer(DECODE, 19, 0, 0);
  by_pointer(DECODE, 18, 41, 0);
  kept = from_the_beginning();
  by_pointer(DECODE, 17, 0, 0);
  place = kept;
  for (int i = 0; i < 7; i++) by_pointer(ENCODE, 0, 13, 0);
  by_pointer(DECODE, 1, 0, REFUSED);
  return 0;
}
