/*
 * A file of 2 MiB that a program answers for (FUSE), and one that waits for it, through the page cache:
 *
 *     answers FOLDER
 *
 * The process mounts it as FOLDER/weights, for itself and its child alone, and answers each read 20 ms later, in a thread called `answers`, the first
 * half by `writev` and the other one by `splice`. The child, `asks`, reads the first half and touches the other one in a mapping. At its end it prints
 * how often each was answered: {"read":8,"touched":8}
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "clock.h"

enum { FOLDER = FUSE_ROOT_ID, WEIGHTS = 2, HALF = 1 << 20, AHEAD = 1 << 17, PAGE = 4096 };

static int fuse, answered[2];
static char data[AHEAD];

static void answer(uint64_t unique, int error, const void *what, uint32_t bytes) {
  struct fuse_out_header head = {.len = sizeof head + bytes, .error = -error, .unique = unique};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)what, bytes}};
  /* Whom it was for may be gone. */
  if (writev(fuse, parts, bytes > 0 ? 2 : 1) < 0 && errno != ENOENT) err(1, "writev");
}

static void answer_spliced(uint64_t unique, uint32_t bytes) {
  int ends[2];
  struct fuse_out_header head = {.len = sizeof head + bytes, .unique = unique};
  struct iovec parts[] = {{&head, sizeof head}, {data, bytes}};
  if (pipe(ends) != 0 || fcntl(ends[1], F_SETPIPE_SZ, 2 * AHEAD) < 0) err(1, "pipe");
  if (writev(ends[1], parts, 2) != (ssize_t)head.len) err(1, "pipe");
  if (splice(ends[0], NULL, fuse, NULL, head.len, 0) < 0 && errno != ENOENT) err(1, "splice");
  close(ends[0]);
  close(ends[1]);
}

static struct fuse_attr attributes(uint64_t node) {
  if (node == FOLDER) return (struct fuse_attr){.ino = node, .mode = S_IFDIR | 0755, .nlink = 2};
  return (struct fuse_attr){.ino = node, .mode = S_IFREG | 0644, .nlink = 1, .size = 2 * HALF, .blocks = 2 * HALF / 512, .blksize = PAGE};
}

static void read_file(uint64_t unique, const struct fuse_read_in *in) {
  int half = in->offset >= HALF;
  nap(20000000);
  answered[half]++;
  if (half) answer_spliced(unique, in->size);
  else answer(unique, 0, data, in->size);
}

/* Until nobody has it mounted any more. */
static void *answers(void *_) {
  (void)_;
  static char request[2 * AHEAD] __attribute__((aligned(8)));
  prctl(PR_SET_NAME, "answers");
  for (;;) {
    ssize_t length = read(fuse, request, sizeof request);
    if (length < 0 && errno == ENODEV) return NULL;
    if (length < 0 && errno != EINTR && errno != ENOENT) err(1, "read");
    if (length < 0) continue;
    const struct fuse_in_header *head = (void *)request;
    const void *in = request + sizeof *head;
    switch (head->opcode) {
    case FUSE_INIT: {
      struct fuse_init_out out = {.major = 7, .minor = 31, .max_readahead = AHEAD, .flags = FUSE_ASYNC_READ, .max_background = 16, .max_write = PAGE};
      answer(head->unique, 0, &out, sizeof out);
      break;
    }
    case FUSE_LOOKUP: {
      struct fuse_entry_out out = {.nodeid = WEIGHTS, .entry_valid = 60, .attr_valid = 60, .attr = attributes(WEIGHTS)};
      int error = strcmp(in, "weights") == 0 ? 0 : ENOENT;
      answer(head->unique, error, &out, error ? 0 : sizeof out);
      break;
    }
    case FUSE_GETATTR: {
      struct fuse_attr_out out = {.attr_valid = 60, .attr = attributes(head->nodeid)};
      answer(head->unique, 0, &out, sizeof out);
      break;
    }
    case FUSE_OPEN: {
      struct fuse_open_out out = {0};
      answer(head->unique, 0, &out, sizeof out);
      break;
    }
    case FUSE_READ:
      read_file(head->unique, in);
      break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
      break;
    case FUSE_RELEASE:
      answer(head->unique, 0, NULL, 0);
      break;
    default:
      answer(head->unique, ENOSYS, NULL, 0);
    }
  }
}

static void asks(const char *folder) {
  static char read_here[AHEAD];
  char path[4096];
  prctl(PR_SET_NAME, "asks");
  snprintf(path, sizeof path, "%s/weights", folder);
  int fd = open(path, O_RDONLY);
  if (fd < 0) err(1, "%s", path);
  for (int at = 0; at < HALF; at += AHEAD) {
    if (pread(fd, read_here, AHEAD, at) != AHEAD) err(1, "pread");
  }
  volatile const char *mapped = mmap(NULL, 2 * HALF, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) err(1, "mmap");
  for (int at = HALF; at < 2 * HALF; at += PAGE) (void)mapped[at];
  munmap((void *)mapped, 2 * HALF);
  close(fd);
  if (umount2(folder, MNT_DETACH) != 0) err(1, "umount");
}

int main(int argc, char **argv) {
  if (argc != 2) errx(2, "usage: answers FOLDER");
  char options[100];
  pthread_t thread;
  int status;
  if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) err(1, "unshare");
  if ((fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC)) < 0) err(1, "/dev/fuse");
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
  if (mount("answers", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0) err(1, "mount");
  pid_t child = fork();
  if (child < 0) err(1, "fork");
  if (child == 0) {
    close(fuse);
    asks(argv[1]);
    return 0;
  }
  if (pthread_create(&thread, NULL, answers, NULL) != 0) errx(1, "pthread_create");
  if (waitpid(child, &status, 0) != child || status != 0) errx(1, "the child has failed");
  pthread_join(thread, NULL);
  printf("{\"read\":%d,\"touched\":%d}\n", answered[0], answered[1]);
  return 0;
}
