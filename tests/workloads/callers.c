/*
 * Sleeps in the same function, which others call so many times:
 *
 *     callers LEFT RIGHT
 *
 * main calls left, which calls rest, LEFT times; then right, which calls rest, RIGHT times; then a child does what left did, as often. Frame pointers
 * are kept, and rest enters the kernel by itself. At last main sleeps for two seconds, so that who looks finds the process there.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((always_inline)) static inline long enter(long number, long first, long second) {
  long result;
#ifdef __x86_64__
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second) : "rcx", "r11", "memory");
#else
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = first;
  register long x1 __asm__("x1") = second;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
  result = x0;
#endif
  return result;
}

__attribute__((noinline)) static void rest(long nanoseconds) {
  struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  if (enter(SYS_nanosleep, (long)&time, 0) != 0) errx(1, "nanosleep");
  __asm__ volatile("");
}

__attribute__((noinline)) static void left(void) {
  rest(5000000);
  __asm__ volatile("");
}

__attribute__((noinline)) static void right(void) {
  rest(5000000);
  __asm__ volatile("");
}

int main(int argc, char **argv) {
  if (argc != 3) errx(2, "usage: callers LEFT RIGHT");
  const int lefts = atoi(argv[1]), rights = atoi(argv[2]);
  for (int i = 0; i < lefts; i++) left();
  for (int i = 0; i < rights; i++) right();
  const pid_t child = fork();
  if (child < 0) err(1, "fork");
  if (child == 0) {
    for (int i = 0; i < lefts; i++) left();
    return 0;
  }
  if (waitpid(child, NULL, 0) != child) err(1, "waitpid");
  rest(2000000000);
  return 0;
}
