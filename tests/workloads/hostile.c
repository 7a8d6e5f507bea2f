/*
 * A target whose names are hostile: bytes from a file, each ended by a NUL. In HOSTILE_FOLDER it makes a file of each name, opens it and reads
 * its 23 bytes, and starts a thread that calls itself so; then it loads copies of the library HOSTILE_LIBRARY, called libllama. and one of the
 * first HOSTILE_LIBRARIES names, and calls llama_decode of each once.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "llama_batch.h"

static void die(const char *what) {
  perror(what);
  exit(1);
}

static const char *setting(const char *name) {
  const char *value = getenv(name);
  if (value == NULL) die(name);
  return value;
}

static void *call_itself(void *name) {
  prctl(PR_SET_NAME, name);
  return NULL;
}

static void use_name(const char *name) {
  char bytes[23] = "twenty-three bytes long";
  int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (fd < 0 || write(fd, bytes, sizeof bytes) != sizeof bytes) die(name);
  close(fd);
  fd = open(name, O_RDONLY);
  if (fd < 0 || read(fd, bytes, sizeof bytes) != sizeof bytes) die(name);
  close(fd);
  pthread_t thread;
  if (pthread_create(&thread, NULL, call_itself, (void *)name) != 0) die("pthread_create");
  pthread_join(thread, NULL);
}

static void use_library(const char *name, const char *library) {
  char path[600];
  struct stat file;
  snprintf(path, sizeof path, "./libllama.%.200s", name);
  int from = open(library, O_RDONLY), to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
  if (from < 0 || to < 0 || fstat(from, &file) != 0 || sendfile(to, from, NULL, file.st_size) != file.st_size) die(path);
  close(from);
  close(to);
  void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (loaded == NULL) die(dlerror());
  int32_t (*decode)(void *, struct llama_batch) = (int32_t(*)(void *, struct llama_batch))dlsym(loaded, "llama_decode");
  struct llama_batch batch = {.n_tokens = 1};
  decode(&batch, batch);
}

int main(void) {
  static char names[1 << 20];
  int fd = open(setting("HOSTILE_NAMES"), O_RDONLY);
  ssize_t length = fd < 0 ? -1 : read(fd, names, sizeof names - 1);
  if (length <= 0) die("HOSTILE_NAMES");
  close(fd);
  if (chdir(setting("HOSTILE_FOLDER")) != 0) die("HOSTILE_FOLDER");
  int libraries = atoi(setting("HOSTILE_LIBRARIES"));
  for (char *name = names; name < names + length; name += strlen(name) + 1) use_name(name);
  char *name = names;
  for (int i = 0; i < libraries; i++, name += strlen(name) + 1) use_library(name, setting("HOSTILE_LIBRARY"));
  return 0;
}
