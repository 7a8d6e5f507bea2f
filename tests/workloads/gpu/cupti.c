/*
 * What CUPTI counts of a program that is not changed for it: CUDA's driver loads this library when CUDA_INJECTION64_PATH names it. When the process ends it
 * writes $CUPTI_BOOK.<process>, one JSON object: calls of the runtime and of the driver by name, what it saw copied and set, by direction, with their bytes,
 * and kernels that ran, by name. Built where CUDA's headers are: cc -shared -fPIC cupti.c -lcupti -pthread
 */
#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* How often something was seen, and its bytes. */
struct row {
  char *name;
  unsigned long times, bytes;
};
struct table {
  struct row rows[4096];
  int length;
};
static struct table calls, moved, kernels;

static void count(struct table *table, const char *name, unsigned long bytes) {
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < table->length && strcmp(table->rows[i].name, name) != 0) i++;
  if (i == table->length && i < 4096) table->rows[table->length++] = (struct row){strdup(name), 0, 0};
  if (i < 4096) table->rows[i].times++, table->rows[i].bytes += bytes;
  pthread_mutex_unlock(&lock);
}

static void CUPTIAPI called(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data) {
  const char *name;
  if (((const CUpti_CallbackData *)data)->callbackSite != CUPTI_API_ENTER || cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS) return;
  count(&calls, name, 0);
}

static void CUPTIAPI room(uint8_t **buffer, size_t *size, size_t *most) {
  *size = 1 << 22;
  *buffer = aligned_alloc(8, *size);
  *most = 0;
}

static const char *const kinds[] = {[CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = "host to device",
    [CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = "device to host",
    [CUPTI_ACTIVITY_MEMCPY_KIND_DTOD] = "on the device",
    [CUPTI_ACTIVITY_MEMCPY_KIND_PTOP] = "peer to peer"};

static void CUPTIAPI done(CUcontext unused, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
  CUpti_Activity *record = NULL;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) count(&kernels, ((CUpti_ActivityKernel10 *)record)->name, 0);
    else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) count(&moved, "memset", ((CUpti_ActivityMemset4 *)record)->bytes);
    else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const CUpti_ActivityMemcpy6 *copy = (CUpti_ActivityMemcpy6 *)record;
      const char *kind = copy->copyKind < sizeof kinds / sizeof *kinds ? kinds[copy->copyKind] : NULL;
      count(&moved, kind ? kind : "otherwise", copy->bytes);
    }
  }
  free(buffer);
}

static void print(FILE *out, const char *title, const struct table *table) {
  fprintf(out, "\"%s\":{", title);
  for (int i = 0; i < table->length; i++)
    fprintf(out, "%s\"%s\":{\"times\":%lu,\"bytes\":%lu}", i ? "," : "", table->rows[i].name, table->rows[i].times, table->rows[i].bytes);
  fputs("}", out);
}

static void tell(void) {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  char path[4096];
  snprintf(path, sizeof path, "%s.%d", getenv("CUPTI_BOOK"), getpid());
  FILE *out = fopen(path, "w");
  if (!out) return;
  fputs("{", out);
  print(out, "calls", &calls);
  fputs(",", out);
  print(out, "moved", &moved);
  fputs(",", out);
  print(out, "kernels", &kernels);
  fputs("}\n", out);
  fclose(out);
}

int InitializeInjection(void) {
  static CUpti_SubscriberHandle subscriber;
  if (cuptiSubscribe(&subscriber, called, NULL) != CUPTI_SUCCESS) return 0;
  cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
  cuptiActivityRegisterCallbacks(room, done);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
  atexit(tell);
  return 1;
}
