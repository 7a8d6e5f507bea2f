/*
 * A stand-in for libllama.so that makes a known number of calls: each llama_decode computes one graph of 13 operators in the CPU backend, which
 * lies beside it as a plug-in, as llama.cpp's own variants do (or is linked into the same program with -DLINKED). With -DBASE a context plans memory in
 * a libggml-base beside it. It computes nothing, and no figure about an engine may ever come from it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ggml_structs.h"
#include "../llama_batch.h"

enum { OPERATORS = 13 };

#ifdef LINKED
int ggml_graph_compute(struct ggml_cgraph *, struct ggml_cplan *);
#define graph_compute ggml_graph_compute
void llama_backend_init(void) {}
#else
static int (*graph_compute)(struct ggml_cgraph *, struct ggml_cplan *);

void llama_backend_init(void);

/* From a library that lies beside this one. */
static void *beside(const char *name, const char *symbol) {
  Dl_info own;
  char path[8192];
  if (dladdr((void *)llama_backend_init, &own) == 0) abort();
  snprintf(path, sizeof path, "%.*s/%s", (int)(strrchr(own.dli_fname, '/') - own.dli_fname), own.dli_fname, name);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found = library == NULL ? NULL : dlsym(library, symbol);
  if (found != NULL) return found;
  fprintf(stderr, "counted: %s\n", dlerror());
  exit(1);
}

#ifdef BASE
static void *(*plan_memory)(void);
#endif

void llama_backend_init(void) {
#ifdef BASE
  *(void **)&plan_memory = beside("libggml-base.so", "ggml_gallocr_new_n");
#endif
  *(void **)&graph_compute = beside("libggml-cpu-x64.so", "ggml_graph_compute");
}
#endif

void *llama_model_load_from_file(void) {
  static int model;
  return &model;
}

void *llama_init_from_model(void) {
#ifdef BASE
  if (plan_memory() == NULL) exit(1);
#endif
  static int context;
  return &context;
}

int32_t llama_decode(void *context, struct llama_batch batch) {
  (void)context;
  struct ggml_cgraph graph = {.size = OPERATORS, .n_nodes = OPERATORS};
  struct ggml_cplan plan = {.n_threads = 1};
  return batch.n_tokens > 0 ? graph_compute(&graph, &plan) : -1;
}
