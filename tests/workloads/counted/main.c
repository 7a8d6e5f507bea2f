/*
 * A target that does, one after another, what its arguments say:
 *
 *     load=PATH   opens a libllama.so and its backend; several may be open (none is needed where they are linked in, with -DLINKED)
 *     say=WORD    prints a line
 *     wait=PATH   waits until the file exists
 *     call        with each open library: loads a model, makes a context, calls llama_decode 97 times
 *     fork        a child does the rest; the parent waits for it and ends as it does
 *     both        parent and child do the rest
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../clock.h"
#include "../llama_batch.h"

enum { DECODES = 97, PROMPT = 23, MOST = 8 };

struct engine {
  void (*init)(void);
  void *(*load)(void);
  void *(*context)(void);
  int32_t (*decode)(void *, struct llama_batch);
};

static struct engine engines[MOST];
static int count;

#ifdef LINKED
void llama_backend_init(void);
void *llama_model_load_from_file(void);
void *llama_init_from_model(void);
int32_t llama_decode(void *, struct llama_batch);

static void load(const char *path) {
  fprintf(stderr, "counted: %s: the library is linked in\n", path);
  exit(2);
}
#else
static void *must(void *library, const char *name) {
  void *found = library == NULL ? NULL : dlsym(library, name);
  if (found != NULL) return found;
  fprintf(stderr, "counted: %s\n", dlerror());
  exit(1);
}

static void load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  struct engine *engine = &engines[count++];
  *(void **)&engine->init = must(library, "llama_backend_init");
  *(void **)&engine->load = must(library, "llama_model_load_from_file");
  *(void **)&engine->context = must(library, "llama_init_from_model");
  *(void **)&engine->decode = must(library, "llama_decode");
  engine->init();
}
#endif

static void call(const struct engine *engine) {
  engine->load();
  void *context = engine->context();
  for (int i = 0; i < DECODES; i++) {
    if (engine->decode(context, (struct llama_batch){.n_tokens = i == 0 ? PROMPT : 1}) != 0) exit(1);
  }
}

/* A child dies with its parent: a test that fails leaves nobody behind. */
static pid_t fork_child(void) {
  pid_t child = fork();
  if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child;
}

static int after_child(pid_t child) {
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv) {
  pid_t child = 0;
#ifdef LINKED
  engines[count++] = (struct engine){llama_backend_init, llama_model_load_from_file, llama_init_from_model, llama_decode};
#endif
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (strncmp(word, "load=", 5) == 0 && count < MOST) load(word + 5);
    else if (strncmp(word, "say=", 4) == 0) puts(word + 4), fflush(stdout);
    else if (strncmp(word, "wait=", 5) == 0) wait_for(word + 5);
    else if (strcmp(word, "call") == 0)
      for (int e = 0; e < count; e++) call(&engines[e]);
    else if (strcmp(word, "fork") == 0) {
      if ((child = fork_child()) > 0) return after_child(child);
    } else if (strcmp(word, "both") == 0) child = fork_child();
    else return fprintf(stderr, "counted: what is %s?\n", word), 2;
  }
  return child > 0 ? after_child(child) : 0;
}
