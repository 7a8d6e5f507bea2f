/*
 * Stand-ins for libraries that drive a GPU, where there is none: functions of the real names and signatures, which do nothing but keep a book of each call.
 * A library writes its book to $GPU_LOG.<library>.<process> when the process ends, a line of JSON for each call, in the order in which they began.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* As in the libraries' own headers. */
typedef int CUresult, CUdevice, cudaError_t, hipError_t, ncclResult_t, ncclDataType_t, ncclRedOp_t;
typedef unsigned long long CUdeviceptr, CUmemGenericAllocationHandle;
typedef struct handle *CUcontext, *CUstream, *CUevent, *CUmodule, *CUfunction, *CUkernel, *CUlibrary, *CUgraph, *CUgraphExec, *CUmemoryPool;
typedef struct handle *ncclComm_t, *hipStream_t, *hipModule_t, *hipFunction_t;
typedef struct handle *ze_driver_handle_t, *ze_device_handle_t, *ze_context_handle_t, *ze_command_queue_handle_t, *ze_command_list_handle_t;
typedef struct handle *ze_module_handle_t, *ze_module_build_log_handle_t, *ze_kernel_handle_t, *ze_event_pool_handle_t, *ze_event_handle_t;
typedef struct handle *ze_fence_handle_t, *ze_physical_mem_handle_t;
typedef unsigned ze_result_t;
typedef struct {
  unsigned x, y, z;
} dim3;
/* ze_group_count_t and ze_group_size_t: three numbers as well. */
typedef dim3 ze_group_count_t, ze_group_size_t;
/* What begins each description, and what follows in some. */
typedef struct {
  int stype;
  const void *pNext;
  unsigned flags;
  union {
    const char *pKernelName;
    size_t size;
  };
} ze_desc_t;
typedef struct {
  uint32_t originX, originY, originZ, width, height, depth;
} ze_copy_region_t;
typedef struct {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray;
  size_t srcPitch, dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray;
  size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D;
typedef struct {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray, *reserved0;
  size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray, *reserved1;
  size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;
typedef struct {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  void *attrs;
  unsigned numAttrs;
} CUlaunchConfig;
typedef struct {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  CUstream stream;
  void *attrs;
  unsigned numAttrs;
} cudaLaunchConfig_t;
typedef struct {
  void *ptr;
  size_t pitch, xsize, ysize;
} cudaPitchedPtr;
typedef struct {
  void *srcArray;
  size_t srcPos[3];
  cudaPitchedPtr srcPtr;
  void *dstArray;
  size_t dstPos[3];
  cudaPitchedPtr dstPtr;
  struct {
    size_t width, height, depth;
  } extent;
  int kind;
} cudaMemcpy3DParms;
typedef struct {
  int type, requestedHandleTypes;
  struct {
    int type, id;
  } location;
  void *win32HandleMetaData;
  unsigned char allocFlags[8];
} CUmemAllocationProp;
typedef struct {
  char internal[128];
} ncclUniqueId;

/* A stream whose work is never done: whoever waits for it does not return. */
#define NEVER ((CUstream)0xdead0)

/* Where its addresses begin: no other library has the same. */
#ifndef FIRST_ADDRESS
#define FIRST_ADDRESS 0x700000000000
#endif

/* Not everybody who includes this uses all of it. */
#define UNUSED __attribute__((unused))
/* A runtime that is linked into a library is no part of what that offers. */
#ifndef VISIBILITY
#define VISIBILITY "default"
#endif
#define EXPORTED __attribute__((visibility(VISIBILITY), noinline))

static pthread_mutex_t book_lock = PTHREAD_MUTEX_INITIALIZER;
static char *book;
static size_t book_length, book_room;

/* Adds what is told of a call to the book. */
__attribute__((format(printf, 1, 2), noinline, unused)) static void note(const char *format, ...) {
  char line[2048];
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  pthread_mutex_lock(&book_lock);
  if (book_length + length + 64 > book_room) {
    book_room = 2 * book_room + 65536;
    book = realloc(book, book_room);
  }
  book_length += sprintf(book + book_length, "{\"tid\":%d,%s}\n", gettid(), line);
  pthread_mutex_unlock(&book_lock);
}

/* QUIET: for calls whose price is measured. Each begins by keeping a register, as real functions do, which the kernel does for it where a probe stands. */
#ifdef QUIET
#ifdef __x86_64__
#define KEPT "rbx"
#else
#define KEPT "x19"
#endif
#define NOTE(func, ret, format, ...) (0 ? note("%d" format, (int)(ret), ##__VA_ARGS__) : ({ __asm__ volatile("" ::: KEPT); }))
#else
#define NOTE(func, ret, format, ...) note("\"func\":\"" func "\",\"ret\":%d" format, (int)(ret), ##__VA_ARGS__)
#endif

/* What a process that was forked has in its book is the other's. */
UNUSED static void begin_book(void) { book_length = 0; }

UNUSED static void write_book(const char *library) {
  const char *path = getenv("GPU_LOG");
  char name[4096];
  if (!path || book_length == 0) return;
  snprintf(name, sizeof name, "%s.%s.%d", path, library, getpid());
  FILE *file = fopen(name, "w");
  if (file) {
    fwrite(book, 1, book_length, file);
    fclose(file);
  }
}

/* Of a library: its book is written when the process ends, and begun anew in one that is forked. */
#define KEEPS_BOOK(library) \
  __attribute__((constructor)) static void begin(void) { pthread_atfork(NULL, NULL, begin_book); } \
  __attribute__((destructor)) static void end(void) { write_book(library); }

/* Addresses and handles that nobody else has. */
UNUSED static uint64_t fresh(uint64_t bytes) {
  static uint64_t next = FIRST_ADDRESS;
  return __atomic_fetch_add(&next, (bytes + 511) / 512 * 512 + 512, __ATOMIC_RELAXED);
}

/* More than any GPU has. */
UNUSED static int too_large(uint64_t bytes) { return bytes >= 1ull << 40; }
