/*
 * Uses the device files nvidia0 and nvidiactl in FOLDER, which are nodes of a harmless driver (tun): an ioctl of it takes the lock of all network devices.
 *
 *     devices use FOLDER OPENS FAILS IOCTLS       three processes, each: so many openings of nvidia0, of nvidia9, which is not there, and ioctls of nvidiactl
 *     devices each FOLDER TIMES                   dri/renderD128 and kfd, nodes of a driver that maps and knows no command: so many times more of each kind;
 *                                                 and what fails, also in mapping nvidia1, of which the driver can map nothing
 *     devices crowd FOLDER TIMES                  eleven processes that wait for each other's ioctls: each makes so many network devices by nvidia0 and nvidiactl
 *     devices ask FOLDER MILLISECONDS             asks nvidia0 for something twice every two milliseconds
 *     devices hold FOLDER GO MILLISECONDS         waits for a file GO, then holds that lock most of the time, by making network devices and taking them away
 *
 * `ask` prints how many ioctls it made, and how long it was in them by its own clock, in nanoseconds.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../clock.h"

enum { HOLDERS = 3 };

static int device(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return open(path, O_RDWR);
}

/* Of a device that has no interface: refused, behind the lock. */
static int ask(int file) {
  struct ifreq request;
  memset(&request, 0, sizeof request);
  return ioctl(file, TUNGETIFF, &request);
}

static void use(char **words) {
  const char *folder = words[0];
  const int opens = atoi(words[1]), fails = atoi(words[2]), ioctls = atoi(words[3]);
  for (int i = 0; i < opens; i++) {
    const int file = device(folder, "nvidia0");
    if (file < 0) err(1, "nvidia0");
    close(file);
  }
  for (int i = 0; i < fails; i++) {
    if (device(folder, "nvidia9") >= 0) errx(1, "nvidia9 is there");
  }
  const int file = device(folder, "nvidiactl");
  if (file < 0) err(1, "nvidiactl");
  for (int i = 0; i < ioctls; i++) ask(file);
  close(file);
}

static void queue(int file, unsigned long command, int flags) {
  struct ifreq request;
  memset(&request, 0, sizeof request);
  request.ifr_flags = flags;
  if (ioctl(file, command, &request) != 0) err(1, "a queue");
}

static void crowd(char **words) {
  static const char *const names[] = {"nvidia0", "nvidiactl"};
  for (int i = 0; i < 2 * atoi(words[1]); i++) {
    const int file = device(words[0], names[i % 2]);
    if (file < 0) err(1, "%s", names[i % 2]);
    queue(file, TUNSETIFF, IFF_TUN | IFF_NO_PI | IFF_MULTI_QUEUE);
    queue(file, TUNSETQUEUE, IFF_DETACH_QUEUE);
    queue(file, TUNSETQUEUE, IFF_ATTACH_QUEUE);
    close(file);
  }
}

static void in_processes(int processes, void (*run)(char **), char **words) {
  for (int i = 1; i < processes; i++) {
    if (fork() == 0) {
      run(words);
      exit(0);
    }
  }
  run(words);
  while (wait(NULL) > 0) continue;
}

/* As DRM_IOCTL_VERSION, DRM_IOCTL_GEM_CLOSE and AMDKFD_IOC_GET_VERSION are. */
static const unsigned long commands[] = {_IOWR('d', 0x00, char[64]), _IOW('d', 0x09, char[8]), _IOR('K', 0x01, char[8])};

static void map_fails(int file, size_t bytes) {
  if (mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0) != MAP_FAILED) errx(1, "mapped");
}

/* Of each kind another number of times. */
static void each(const char *folder, int times) {
  static const char *const names[] = {"dri/renderD128", "kfd"};
  for (int i = 0; i < 2; i++) {
    const int file = device(folder, names[i]);
    if (file < 0) err(1, "%s", names[i]);
    for (int command = 0; command < 3; command++) {
      for (int j = 0; j < times + 2 * i + command; j++) ioctl(file, commands[command], NULL);
    }
    for (int j = 1; j <= times + i; j++) {
      if (mmap(NULL, 4096 * j, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED) err(1, "mmap");
    }
    /* EINVAL. */
    for (int j = 0; j < times + i; j++) map_fails(file, 0);
    close(file);
  }
  const int file = device(folder, "nvidia1");
  if (file < 0) err(1, "nvidia1");
  /* ENODEV. */
  for (int i = 0; i < times; i++) map_fails(file, 4096);
  close(file);
  char path[4096];
  snprintf(path, sizeof path, "%s/kfd", folder);
  for (int i = 0; i < times; i++) {
    /* ENOENT, ENXIO, EEXIST. */
    if (device(folder, "dri/card0") >= 0 || device(folder, "nvidia5") >= 0 || open(path, O_RDWR | O_CREAT | O_EXCL, 0600) >= 0) errx(1, "opened");
  }
}

struct holder {
  const char *folder;
  /* CLOCK_MONOTONIC. */
  long long end;
};

static void *hold(void *argument) {
  const struct holder *holder = argument;
  while (clock_ns(CLOCK_MONOTONIC) < holder->end) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    const int file = device(holder->folder, "nvidia0");
    if (file < 0) err(1, "nvidia0");
    if (ioctl(file, TUNSETIFF, &request) != 0) err(1, "TUNSETIFF");
    close(file);
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc == 6 && strcmp(argv[1], "use") == 0) {
    in_processes(3, use, argv + 2);
    return 0;
  }
  if (argc == 4 && strcmp(argv[1], "crowd") == 0) {
    in_processes(11, crowd, argv + 2);
    return 0;
  }
  if (argc == 4 && strcmp(argv[1], "each") == 0) {
    each(argv[2], atoi(argv[3]));
    return 0;
  }
  if (argc == 4 && strcmp(argv[1], "ask") == 0) {
    const int file = device(argv[2], "nvidia0");
    if (file < 0) err(1, "nvidia0");
    const long long end = clock_ns(CLOCK_MONOTONIC) + atoll(argv[3]) * 1000000;
    long long inside = 0;
    int times = 0;
    while (clock_ns(CLOCK_MONOTONIC) < end) {
      /* The first finds cold caches after the sleep, in which it costs a tracer several times as much to see it. */
      for (int i = 0; i < 2; i++, times++) {
        const long long before = clock_ns(CLOCK_MONOTONIC);
        ask(file);
        inside += clock_ns(CLOCK_MONOTONIC) - before;
      }
      usleep(2000);
    }
    printf("{\"times\":%d,\"inside\":%lld}\n", times, inside);
    return 0;
  }
  if (argc == 5 && strcmp(argv[1], "hold") == 0) {
    wait_for(argv[3]);
    struct holder holder = {argv[2], clock_ns(CLOCK_MONOTONIC) + atoll(argv[4]) * 1000000};
    /* One alone lets go of it for a moment each time, in which whoever runs on the same processor may find it free. */
    pthread_t threads[HOLDERS];
    for (int i = 0; i < HOLDERS; i++) {
      if (pthread_create(&threads[i], NULL, hold, &holder) != 0) errx(1, "pthread_create");
    }
    for (int i = 0; i < HOLDERS; i++) pthread_join(threads[i], NULL);
    return 0;
  }
  errx(2, "usage: devices use|each|crowd|ask|hold FOLDER …");
}
