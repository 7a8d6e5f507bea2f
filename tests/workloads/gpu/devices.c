/*
 * Uses the device files nvidia0 and nvidiactl in FOLDER, which are nodes of a harmless driver (tun): an ioctl of it takes the lock of all network devices.
 *
 *     devices use FOLDER OPENS FAILS IOCTLS       three processes, each: so many openings of nvidia0, of nvidia9, which is not there, and ioctls of nvidiactl
 *     devices ask FOLDER MILLISECONDS             asks nvidia0 for something twice every two milliseconds
 *     devices hold FOLDER BEGIN MILLISECONDS      waits for BEGIN, then holds that lock most of the time, by making network devices and taking them away
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

static void use(const char *folder, int opens, int fails, int ioctls) {
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
    for (int i = 0; i < 2; i++) {
      if (fork() == 0) {
        use(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
        return 0;
      }
    }
    use(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
    while (wait(NULL) > 0) continue;
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
    usleep(1000 * atoi(argv[3]));
    struct holder holder = {argv[2], clock_ns(CLOCK_MONOTONIC) + atoll(argv[4]) * 1000000};
    /* One alone lets go of it for a moment each time, in which whoever runs on the same processor may find it free. */
    pthread_t threads[HOLDERS];
    for (int i = 0; i < HOLDERS; i++) {
      if (pthread_create(&threads[i], NULL, hold, &holder) != 0) errx(1, "pthread_create");
    }
    for (int i = 0; i < HOLDERS; i++) pthread_join(threads[i], NULL);
    return 0;
  }
  errx(2, "usage: devices use|ask|hold FOLDER …");
}
