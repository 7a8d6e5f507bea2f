/* What calls.c asks of Level Zero. */

/* So many kinds of calls. */
enum { OF_LEVEL_ZERO = 30 };
/* Kinds of memory that a thread has. */
enum { ON_DEVICES, ELSEWHERE, PHYSICAL, MEMORIES };

struct level_zero {
  ze_context_handle_t context;
  ze_command_queue_handle_t queue;
  ze_command_list_handle_t list;
  ze_module_handle_t module;
  ze_kernel_handle_t kernel;
  ze_event_handle_t event;
  void *reserved, *kept[MEMORIES][64];
  int count[MEMORIES];
};

static void keep(struct level_zero *ze, int memory, void *address) {
  if (ze->count[memory] < 64) ze->kept[memory][ze->count[memory]++] = address;
}
static void *take(struct level_zero *ze, int memory) { return ze->count[memory] > 0 ? ze->kept[memory][--ze->count[memory]] : NULL; }
/* The last that was kept, or the one before; memory of the program where there is none. */
static void *last(struct level_zero *ze, int memory, int before, void *own) {
  const int i = ze->count[memory] - 1 - before;
  return i < 0 ? own : ze->kept[memory][i];
}

/* There are two devices. */
#define DEVICE(i) ((ze_device_handle_t)(uintptr_t)(1 + (i) % 2))

/* Makes call i, of the kind `what`. */
static void call_level_zero(struct level_zero *ze, int i, int what, char *data, size_t bytes) {
  ze_desc_t desc = {.flags = 1 + i % 2, .size = bytes};
  void *memory = NULL;
  uint32_t found;
  switch (what) {
    case 0: CALL(zeInit)(i % 4); break;
    case 1: i % 2 ? CALL(zeDriverGet)(&found, NULL) : CALL(zeDeviceGet)(NULL, &found, NULL); break;
    case 2: i % 2 ? CALL(zeContextCreate)(NULL, &desc, &ze->context) : CALL(zeFenceHostSynchronize)(NULL, 1000); break;
    case 3: CALL(zeCommandQueueCreate)(ze->context, DEVICE(i), &desc, &ze->queue); break;
    case 4: (i % 2 ? CALL(zeCommandListCreate) : CALL(zeCommandListCreateImmediate))(ze->context, DEVICE(i), &desc, &ze->list); break;
    case 5: CALL(zeModuleCreate)(ze->context, DEVICE(i), data, &ze->module, NULL); break;
    case 6: {
      const ze_desc_t named = {.pKernelName = i % 2 ? "mul_mat_vec_q4_K" : LONG_NAME};
      CALL(zeKernelCreate)(ze->module, &named, &ze->kernel);
      break;
    }
    case 7: if (CALL(zeMemAllocDevice)(ze->context, &desc, bytes, 64, DEVICE(i), &memory) == 0) keep(ze, ON_DEVICES, memory); break;
    case 8: CALL(zeMemAllocDevice)(ze->context, &desc, 1ull << 41, 64, DEVICE(i), &memory); break;
    case 9: if (CALL(zeMemAllocHost)(ze->context, &desc, bytes, 64, &memory) == 0) keep(ze, ELSEWHERE, memory); break;
    case 10: if (CALL(zeMemAllocShared)(ze->context, &desc, &desc, bytes, 64, DEVICE(i), &memory) == 0) keep(ze, ELSEWHERE, memory); break;
    case 11: {
      ze_physical_mem_handle_t physical;
      if (CALL(zePhysicalMemCreate)(ze->context, DEVICE(i), &desc, &physical) == 0) keep(ze, PHYSICAL, physical);
      break;
    }
    case 12: CALL(zeVirtualMemReserve)(ze->context, NULL, bytes, &ze->reserved); break;
    case 13: if (CALL(zeMemAllocDevice)(ze->context, &desc, bytes, 64, DEVICE(i + 1), &memory) == 0) keep(ze, ON_DEVICES, memory); break;
    case 14: CALL(zeCommandListAppendMemoryCopy)(ze->list, last(ze, ON_DEVICES, 0, data), data, bytes, NULL, 0, NULL); break;
    case 15:
      CALL(zeCommandListAppendMemoryCopy)(ze->list, last(ze, ON_DEVICES, 0, data), last(ze, ON_DEVICES, 1, data), bytes, NULL, 0, NULL);
      break;
    case 16:
      if (i % 2) CALL(zeCommandListAppendMemoryCopy)(ze->list, data, last(ze, ELSEWHERE, 0, data), bytes, NULL, 0, NULL);
      else CALL(zeCommandListAppendMemoryCopy)(ze->list, last(ze, ELSEWHERE, 1, data), last(ze, ON_DEVICES, 0, data), bytes, NULL, 0, NULL);
      break;
    case 17: {
      const ze_copy_region_t region = {.width = bytes, .height = 5, .depth = i % 2 * 3};
      void *to = last(ze, ELSEWHERE, 0, data), *from = last(ze, ELSEWHERE, 1, data);
      CALL(zeCommandListAppendMemoryCopyRegion)(ze->list, to, &region, bytes, 0, from, &region, bytes, 0, NULL, 0, NULL);
      break;
    }
    case 18: CALL(zeCommandListAppendMemoryFill)(ze->list, last(ze, ON_DEVICES, 0, data), data, 4, bytes, NULL, 0, NULL); break;
    case 19:
      if (i % 2) CALL(zeCommandListAppendMemoryPrefetch)(ze->list, last(ze, ELSEWHERE, 0, data), bytes);
      else CALL(zeCommandListClose)(ze->list);
      break;
    case 20: CALL(zeCommandListAppendLaunchKernel)(ze->list, ze->kernel, &(ze_group_count_t){70000 + i, 3, 80000 + i}, NULL, 0, NULL); break;
    case 21: CALL(zeCommandListAppendLaunchCooperativeKernel)(ze->list, ze->kernel, &(ze_group_count_t){i, 9, 7}, NULL, 0, NULL); break;
    case 22: {
      const ze_group_count_t groups = {70000 + i, 2, 3};
      const ze_group_size_t size = {256, 4, 1};
      CALL(zeCommandListAppendLaunchKernelWithArguments)(ze->list, ze->kernel, groups, size, NULL, NULL, NULL, 0, NULL);
      break;
    }
    case 23: CALL(zeEventCreate)(NULL, &desc, &ze->event); break;
    case 24: i % 2 ? CALL(zeCommandListAppendBarrier)(ze->list, ze->event, 0, NULL) : CALL(zeCommandListAppendSignalEvent)(ze->list, ze->event); break;
    case 25: CALL(zeCommandQueueExecuteCommandLists)(ze->queue, 1 + i % 3, &ze->list, NULL); break;
    case 26: i % 2 ? CALL(zeCommandQueueSynchronize)(ze->queue, UINT64_MAX) : CALL(zeCommandListHostSynchronize)(ze->list, UINT64_MAX); break;
    case 27: i % 2 ? CALL(zeEventQueryStatus)(ze->event) : CALL(zeEventHostSynchronize)(ze->event, i % 4); break;
    case 28: CALL(zeMemFree)(ze->context, take(ze, i % 2 ? ON_DEVICES : ELSEWHERE)); break;
    default:
      if (i % 2) CALL(zePhysicalMemDestroy)(ze->context, take(ze, PHYSICAL));
      else CALL(zeVirtualMemFree)(ze->context, ze->reserved, 4096);
  }
}
