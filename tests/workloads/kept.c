/*
 * What llama.cpp's own programs do for two of their options, done to an engine that has none for it, by LD_PRELOAD:
 *
 *     KEPT_WEIGHTS=PATTERN     -ot PATTERN=CPU: weights whose names fit stay in the host's memory, wherever their layer is
 *     KEPT_CACHE=1             -nkvo: so does the cache of keys and values
 *
 * It asks llama.cpp for the parameters of a model and of a context on the engine's behalf, and sets in them what these options set. Parameters are returned
 * where the caller has room for them, which is x86-64's way; where they are in there is so since the summer of 2025.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <stdlib.h>

enum { OFFLOAD_KQV = 0x81 };

struct override {
  const char *pattern;
  void *buffer_type;
};

/* Of the library that calls, or of those that it is linked with. */
static void *found(const char *name, void *caller) {
  Dl_info from;
  void *library = dladdr(caller, &from) == 0 ? NULL : dlopen(from.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void *function = library == NULL ? NULL : dlsym(library, name);
  if (function == NULL) errx(1, "%s: not found", name);
  return function;
}

void **llama_model_default_params(void **params) {
  static struct override kept[2];
  void *caller = __builtin_return_address(0);
  void **(*defaults)(void **) = found(__func__, caller);
  defaults(params);
  kept[0].pattern = getenv("KEPT_WEIGHTS");
  if (kept[0].pattern == NULL) return params;
  void *(*in_memory)(void) = found("ggml_backend_cpu_buffer_type", caller);
  kept[0].buffer_type = in_memory();
  params[1] = kept;
  return params;
}

char *llama_context_default_params(char *params) {
  char *(*defaults)(char *) = found(__func__, __builtin_return_address(0));
  defaults(params);
  if (params[OFFLOAD_KQV] != 1) errx(1, "parameters of a context are laid out otherwise");
  if (getenv("KEPT_CACHE") != NULL) params[OFFLOAD_KQV] = 0;
  return params;
}
