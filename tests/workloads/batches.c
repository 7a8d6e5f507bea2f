/*
 * A made-up engine that hands batches to llama.cpp in both of its ways, for tests of what llmprof makes of them:
 *
 *     batches
 *
 * When there is a line on standard input it calls
 *
 *     through llama_decode, with `logits` for each token: a prompt of 37, whose last token wants logits; 101 times one token; 11 times three, of three
 *     sequences; a prompt of 29 beside two that generate; 5 times 19, of as many sequences; a prompt of 41 beside 19 that generate; a text of 17 to
 *     embed, of which each token wants its output; 13 times one token and four that were guessed, of which none, one, two, three, four, none … are right,
 *     with another context asked twice before for what to guess; and one token more
 *     through llama_process: the same but with 18 beside 41
 *     through each, 7 times one token and two that were guessed of each of two sequences, none, one, both, none … right of each, and one more of each; and
 *     the same beside pieces of 23 tokens of another sequence's prompt, again with the other context asked twice before
 *     through llama_process, 7 encodes of 13 tokens; and one token that is refused
 *     through each, of a third context: a prompt of 5, and 17 times two, of two sequences that happen to be at neighbouring places, of which then the one
 *     that is ahead goes on alone for 3 times
 *     through each, of a fourth context: 200 tokens, of as many sequences, beside a prompt of 31
 *
 * with places in a sequence that go on from call to call, but for the text to embed. A batch is a few numbers here, not what it is in llama.cpp, because
 * llmprof must not depend on that. The functions are exported by the program itself; with INLINED, those inside of them as well. It computes nothing, and
 * no figure about an engine may ever come from it.
 */
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "llama_batch.h"

#define EXPORTED __attribute__((noipa))

enum { MOST = 256, ENCODE = 0, DECODE = 1, REFUSED = 1 };

struct llama_batch_ext {
  int32_t tokens, refuse;
};

static int32_t answer_to(const void *context, int32_t tokens) { return context != NULL && tokens > 0 ? 0 : -1; }

#ifdef INLINED
/* What llama.cpp calls inside of its functions. Compiled together with them it may be a part of them, or they of their callers: in turn it is called by
 * them, not called, and called alone. */
enum { BY_OUTER, NOT_CALLED, ALONE };
static int turn;

EXPORTED int32_t process_inside(void *context, const struct llama_batch_ext *batch) __asm__("_ZN13llama_context6decodeERK15llama_batch_ext");
int32_t process_inside(void *context, const struct llama_batch_ext *batch) { return answer_to(context, batch->tokens) < 0 ? -1 : batch->refuse; }

EXPORTED int32_t decode_inside(void *context, const struct llama_batch *batch) __asm__("_ZN13llama_context6decodeERK11llama_batch");
int32_t decode_inside(void *context, const struct llama_batch *batch) {
  struct llama_batch_ext same = {.tokens = batch->n_tokens};
  return process_inside(context, &same);
}
#endif

EXPORTED int32_t llama_decode(void *context, struct llama_batch batch) {
#ifdef INLINED
  if (turn % 3 == BY_OUTER) return decode_inside(context, &batch);
#endif
  return answer_to(context, batch.n_tokens);
}

EXPORTED void llama_batch_ext_clear(struct llama_batch_ext *batch) { batch->tokens = 0; }

EXPORTED int32_t llama_batch_ext_add_token(struct llama_batch_ext *batch, int32_t sequence, int32_t token) {
  return sequence < 0 || token < 0 ? -1 : batch->tokens++;
}

EXPORTED bool llama_batch_ext_set_pos(struct llama_batch_ext *batch, int32_t index, const int32_t *position) {
  return index < batch->tokens && *position >= 0;
}

EXPORTED bool llama_batch_ext_set_output_logits(struct llama_batch_ext *batch, int32_t index, bool value) { return value && index < batch->tokens; }

EXPORTED int32_t llama_process(void *context, int type, struct llama_batch_ext *batch) {
#ifdef INLINED
  if (type == DECODE && turn % 3 == BY_OUTER) return process_inside(context, batch);
#endif
  return context != NULL && type <= DECODE && batch->tokens > 0 ? batch->refuse : -1;
}

/* Contexts are told apart by where they are. */
static char context, draft, other, crowded;
static int place;
/* Where a prompt is that is a sequence of its own; otherwise it follows what is before it. */
enum { BEHIND = -1 };
static int asked = BEHIND;

/* Each of another sequence, one ahead of the one before. */
enum { AHEAD = -1 };

/* Where a token is, and in which sequence: `each` follow each other in one, and the next one is one behind; a prompt goes up. */
struct token {
  int32_t place, sequence;
};

static struct token token_of(int i, int generating, int each) {
  if (i >= generating) return (struct token){asked == BEHIND ? place + i : asked + i - generating, MOST};
  if (each == AHEAD) return (struct token){place + i, i};
  return (struct token){place - i / each + i % each, i / each};
}

/* `generating` tokens that want logits, then a prompt of which the last one does. */
static void by_value(void *of, int generating, int prompt, int each) {
  static int32_t positions[MOST], sequences[MOST], *ids[MOST];
  static int8_t logits[MOST];
  int tokens = generating + prompt;
  for (int i = 0; i < tokens; i++) {
    struct token token = token_of(i, generating, each);
    positions[i] = token.place;
    sequences[i] = token.sequence;
    ids[i] = &sequences[i];
    logits[i] = i < generating || i == tokens - 1;
  }
  struct llama_batch batch = {.n_tokens = tokens, .pos = positions, .seq_id = ids, .logits = logits};
#ifdef INLINED
  if (++turn % 3 == ALONE) {
    if (decode_inside(of, &batch) != 0) errx(1, "llama_context::decode");
    return;
  }
#endif
  if (llama_decode(of, batch) != 0) errx(1, "llama_decode");
}

static void process(void *of, int type, int generating, int prompt, int each, int answer) {
  static struct llama_batch_ext *batch;
  if (batch == NULL) batch = calloc(1, sizeof *batch);
  batch->refuse = answer;
  llama_batch_ext_clear(batch);
  for (int i = 0; i < generating + prompt; i++) {
    struct token token = token_of(i, generating, each);
    int index = llama_batch_ext_add_token(batch, token.sequence, i);
    if (!llama_batch_ext_set_pos(batch, index, &token.place)) errx(1, "llama_batch_ext_set_pos");
    if (i < generating || i == generating + prompt - 1) llama_batch_ext_set_output_logits(batch, index, true);
  }
#ifdef INLINED
  if (type == DECODE && ++turn % 3 == ALONE) {
    if (process_inside(of, batch) != answer) errx(1, "llama_context::decode");
    return;
  }
#endif
  if (llama_process(of, type, batch) != answer) errx(1, "llama_process");
}

static void by_pointer(void *of, int generating, int prompt, int each) { process(of, DECODE, generating, prompt, each, 0); }

typedef void decode(void *of, int generating, int prompt, int each);

static void batches(decode *decode, int times, int generating, int prompt) {
  for (int i = 0; i < times; i++) {
    decode(&context, generating, prompt, 1);
    place += generating + prompt;
  }
}

static void ask_draft(decode *decode) {
  for (int i = 0; i < 2; i++) decode(&draft, 1, 0, 1);
}

static void guesses(decode *decode) {
  for (int i = 0; i < 13; i++) {
    ask_draft(decode);
    decode(&context, 1 + 4, 0, 1 + 4);
    place += 1 + i % 5;
  }
  batches(decode, 1, 1, 0);
}

static void guesses_for_two(decode *decode, int beside) {
  for (int i = 0; i < 7; i++) {
    ask_draft(decode);
    decode(&context, 2 * (1 + 2), beside, 1 + 2);
    place += 1 + i % 3;
    asked += beside;
  }
  decode(&context, 2, beside, 1);
  place += 2;
}

static void guesses_for_several(decode *decode) {
  guesses_for_two(decode, 0);
  asked = 0;
  guesses_for_two(decode, 23);
  asked = BEHIND;
}

static void all(decode *decode, int beside) {
  batches(decode, 1, 0, 37);
  batches(decode, 101, 1, 0);
  batches(decode, 11, 3, 0);
  batches(decode, 1, 2, 29);
  batches(decode, 5, 19, 0);
  batches(decode, 1, beside, 41);
  int kept = place;
  place = 0;
  decode(&context, 17, 0, 17);
  place = kept;
  guesses(decode);
}

static void neighbours(decode *decode) {
  place = 0;
  decode(&other, 0, 5, 1);
  for (place = 5; place < 5 + 17; place++) decode(&other, 2, 0, AHEAD);
  for (place++; place < 5 + 17 + 4; place++) decode(&other, 1, 0, 1);
}

static void crowd(decode *decode) {
  place = 200;
  decode(&crowded, 200, 31, 1);
}

int main(void) {
  char line;
  if (write(1, "ready\n", 6) != 6 || read(0, &line, 1) != 1) err(1, "standard input");
  all(by_value, 19);
  all(by_pointer, 18);
  guesses_for_several(by_value);
  guesses_for_several(by_pointer);
  for (int i = 0; i < 7; i++) process(&context, ENCODE, 0, 13, 1, 0);
  process(&context, DECODE, 1, 0, 1, REFUSED);
  neighbours(by_value);
  neighbours(by_pointer);
  crowd(by_value);
  crowd(by_pointer);
  return 0;
}
