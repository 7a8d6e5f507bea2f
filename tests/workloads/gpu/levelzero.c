/* A stand-in for the loader of Level Zero: see log.h. What lies at an address says the address itself. */
#define FIRST_ADDRESS 0x740000000000
#include <stdbool.h>

#include "log.h"

KEEPS_BOOK("levelzero")

enum { NOT_READY = 1, OUT_OF_DEVICE_MEMORY = 0x70000003, INVALID_ARGUMENT = 0x78000004 };
/* What an address has above its lower 40 bits. */
enum { ON_DEVICES = 0x74, ON_HOST = 0x78, SHARED = 0x79 };

#define HANDLE(word) ",\"" word "\":\"%p\""
#define OF_LIST HANDLE("stream")

/* What it has not given is the program's own. */
static bool is_host(uintptr_t region) { return region < ON_DEVICES || region == ON_HOST || region > SHARED; }

/* Devices are 1 and 2. */
static const char *direction(const void *to, const void *from) {
  const uintptr_t there = (uintptr_t)to >> 40, here = (uintptr_t)from >> 40;
  if (is_host(here)) return is_host(there) ? "on the host" : "host to device";
  if (is_host(there)) return "device to host";
  return here != there && here != SHARED && there != SHARED ? "between devices" : "on the device";
}

EXPORTED ze_result_t zeInit(unsigned flags) {
  NOTE("zeInit", flags > 2 ? INVALID_ARGUMENT : 0, "");
  return flags > 2 ? INVALID_ARGUMENT : 0;
}
EXPORTED ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers) {
  (void)drivers;
  *count = 1;
  NOTE("zeDriverGet", 0, "");
  return 0;
}
EXPORTED ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices) {
  (void)driver, (void)devices;
  *count = 2;
  NOTE("zeDeviceGet", 0, "");
  return 0;
}

#define MAKES(name, type) \
  EXPORTED ze_result_t name(ze_context_handle_t context, ze_device_handle_t device, const ze_desc_t *desc, type *made) { \
    (void)context, (void)device, (void)desc; \
    *made = (type)fresh(0); \
    NOTE(#name, 0, OF_LIST, (void *)*made); \
    return 0; \
  }
MAKES(zeCommandQueueCreate, ze_command_queue_handle_t)
MAKES(zeCommandListCreate, ze_command_list_handle_t)
MAKES(zeCommandListCreateImmediate, ze_command_list_handle_t)
EXPORTED ze_result_t zeContextCreate(ze_driver_handle_t driver, const ze_desc_t *desc, ze_context_handle_t *context) {
  (void)driver, (void)desc;
  *context = (ze_context_handle_t)fresh(0);
  NOTE("zeContextCreate", 0, HANDLE("context"), (void *)*context);
  return 0;
}
EXPORTED ze_result_t zeCommandListClose(ze_command_list_handle_t list) {
  NOTE("zeCommandListClose", 0, OF_LIST, (void *)list);
  return 0;
}
EXPORTED ze_result_t zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device, const void *desc, ze_module_handle_t *module,
                                    ze_module_build_log_handle_t *log) {
  (void)context, (void)device, (void)desc, (void)log;
  *module = (ze_module_handle_t)fresh(0);
  NOTE("zeModuleCreate", 0, HANDLE("module"), (void *)*module);
  return 0;
}
EXPORTED ze_result_t zeKernelCreate(ze_module_handle_t module, const ze_desc_t *desc, ze_kernel_handle_t *kernel) {
  (void)module;
  *kernel = (ze_kernel_handle_t)fresh(0);
  NOTE("zeKernelCreate", 0, HANDLE("function") ",\"name\":\"%s\"", (void *)*kernel, desc->pKernelName);
  return 0;
}

static ze_result_t allocated(const char *name, void **address, uint64_t region, size_t bytes, const char *memory) {
  const ze_result_t result = too_large(bytes) ? OUT_OF_DEVICE_MEMORY : 0;
  *address = result ? NULL : (void *)(fresh(bytes) + ((region - ON_DEVICES) << 40));
  note("\"func\":\"%s\",\"ret\":%d" HANDLE("address") ",\"bytes\":%zu,\"memory\":\"%s\"", name, (int)result, *address, bytes, memory);
  return result;
}
EXPORTED ze_result_t zeMemAllocDevice(ze_context_handle_t context, const ze_desc_t *desc, size_t bytes, size_t alignment, ze_device_handle_t device,
                                      void **address) {
  (void)context, (void)desc, (void)alignment;
  return allocated("zeMemAllocDevice", address, ON_DEVICES + (uintptr_t)device, bytes, "device");
}
EXPORTED ze_result_t zeMemAllocHost(ze_context_handle_t context, const ze_desc_t *desc, size_t bytes, size_t alignment, void **address) {
  (void)context, (void)desc, (void)alignment;
  return allocated("zeMemAllocHost", address, ON_HOST, bytes, "host");
}
EXPORTED ze_result_t zeMemAllocShared(ze_context_handle_t context, const ze_desc_t *desc, const ze_desc_t *host, size_t bytes, size_t alignment,
                                      ze_device_handle_t device, void **address) {
  (void)context, (void)desc, (void)host, (void)alignment, (void)device;
  return allocated("zeMemAllocShared", address, SHARED, bytes, "managed");
}
EXPORTED ze_result_t zeMemFree(ze_context_handle_t context, void *address) {
  (void)context;
  NOTE("zeMemFree", 0, HANDLE("address"), address);
  return 0;
}
EXPORTED ze_result_t zePhysicalMemCreate(ze_context_handle_t context, ze_device_handle_t device, ze_desc_t *desc, ze_physical_mem_handle_t *made) {
  (void)context, (void)device;
  *made = (ze_physical_mem_handle_t)fresh(0);
  NOTE("zePhysicalMemCreate", 0, HANDLE("address") ",\"bytes\":%zu,\"memory\":\"physical\"", (void *)*made, desc->size);
  return 0;
}
EXPORTED ze_result_t zePhysicalMemDestroy(ze_context_handle_t context, ze_physical_mem_handle_t memory) {
  (void)context;
  NOTE("zePhysicalMemDestroy", 0, HANDLE("address"), (void *)memory);
  return 0;
}
EXPORTED ze_result_t zeVirtualMemReserve(ze_context_handle_t context, const void *wanted, size_t bytes, void **address) {
  (void)context, (void)wanted;
  *address = (void *)fresh(bytes);
  NOTE("zeVirtualMemReserve", 0, HANDLE("address") ",\"bytes\":%zu", *address, bytes);
  return 0;
}
EXPORTED ze_result_t zeVirtualMemFree(ze_context_handle_t context, const void *address, size_t bytes) {
  (void)context;
  NOTE("zeVirtualMemFree", 0, HANDLE("address") ",\"bytes\":%zu", (void *)address, bytes);
  return 0;
}

EXPORTED ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *to, const void *from, size_t bytes, ze_event_handle_t signal,
                                                   uint32_t count, ze_event_handle_t *waited) {
  (void)signal, (void)count, (void)waited;
  NOTE("zeCommandListAppendMemoryCopy", 0, HANDLE("to") HANDLE("from") ",\"bytes\":%zu,\"direction\":\"%s\"" OF_LIST, to, (void *)from, bytes,
       direction(to, from), (void *)list);
  return 0;
}
EXPORTED ze_result_t zeCommandListAppendMemoryCopyRegion(ze_command_list_handle_t list, void *to, const ze_copy_region_t *there, uint32_t to_pitch,
                                                         uint32_t to_slice, const void *from, const ze_copy_region_t *here, uint32_t from_pitch,
                                                         uint32_t from_slice, ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waited) {
  (void)to_pitch, (void)to_slice, (void)here, (void)from_pitch, (void)from_slice, (void)signal, (void)count, (void)waited;
  const size_t slices = there->depth ? there->depth : 1;
  NOTE("zeCommandListAppendMemoryCopyRegion", 0, HANDLE("to") HANDLE("from") ",\"bytes\":%zu,\"direction\":\"%s\"" OF_LIST, to, (void *)from,
       slices * there->width * there->height, direction(to, from), (void *)list);
  return 0;
}
EXPORTED ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void *address, const void *pattern, size_t pattern_bytes, size_t bytes,
                                                   ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waited) {
  (void)pattern, (void)pattern_bytes, (void)signal, (void)count, (void)waited;
  NOTE("zeCommandListAppendMemoryFill", 0, HANDLE("address") ",\"bytes\":%zu" OF_LIST, address, bytes, (void *)list);
  return 0;
}
EXPORTED ze_result_t zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t list, const void *address, size_t bytes) {
  NOTE("zeCommandListAppendMemoryPrefetch", 0, HANDLE("address") ",\"bytes\":%zu" OF_LIST, (void *)address, bytes, (void *)list);
  return 0;
}

#define LAUNCHED HANDLE("function") ",\"grid\":\"%u×%u×%u\"" OF_LIST
#define LAUNCHES(name) \
  EXPORTED ze_result_t name(ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups, ze_event_handle_t signal, \
                            uint32_t count, ze_event_handle_t *waited) { \
    (void)signal, (void)count, (void)waited; \
    NOTE(#name, 0, LAUNCHED, (void *)kernel, groups->x, groups->y, groups->z, (void *)list); \
    return 0; \
  }
LAUNCHES(zeCommandListAppendLaunchKernel)
LAUNCHES(zeCommandListAppendLaunchCooperativeKernel)
EXPORTED ze_result_t zeCommandListAppendLaunchKernelWithArguments(ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t groups,
                                                                  const ze_group_size_t size, void **arguments, const void *next,
                                                                  ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waited) {
  (void)arguments, (void)next, (void)signal, (void)count, (void)waited;
  NOTE("zeCommandListAppendLaunchKernelWithArguments", 0, LAUNCHED ",\"block\":\"%u×%u×%u\"", (void *)kernel, groups.x, groups.y, groups.z, (void *)list,
       size.x, size.y, size.z);
  return 0;
}

EXPORTED ze_result_t zeEventCreate(ze_event_pool_handle_t pool, const ze_desc_t *desc, ze_event_handle_t *event) {
  (void)pool, (void)desc;
  *event = (ze_event_handle_t)fresh(0);
  NOTE("zeEventCreate", 0, HANDLE("event"), (void *)*event);
  return 0;
}
EXPORTED ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t list, ze_event_handle_t event, uint32_t count, ze_event_handle_t *waited) {
  (void)count, (void)waited;
  NOTE("zeCommandListAppendBarrier", 0, HANDLE("event") OF_LIST, (void *)event, (void *)list);
  return 0;
}
EXPORTED ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t list, ze_event_handle_t event) {
  NOTE("zeCommandListAppendSignalEvent", 0, HANDLE("event") OF_LIST, (void *)event, (void *)list);
  return 0;
}
EXPORTED ze_result_t zeEventQueryStatus(ze_event_handle_t event) {
  NOTE("zeEventQueryStatus", NOT_READY, HANDLE("event"), (void *)event);
  return NOT_READY;
}
EXPORTED ze_result_t zeEventHostSynchronize(ze_event_handle_t event, uint64_t timeout) {
  NOTE("zeEventHostSynchronize", timeout ? 0 : NOT_READY, HANDLE("event"), (void *)event);
  return timeout ? 0 : NOT_READY;
}
EXPORTED ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue, uint32_t count, ze_command_list_handle_t *lists,
                                                       ze_fence_handle_t fence) {
  (void)lists, (void)fence;
  NOTE("zeCommandQueueExecuteCommandLists", 0, OF_LIST ",\"submits\":%u", (void *)queue, count);
  return 0;
}
EXPORTED ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t queue, uint64_t timeout) {
  (void)timeout;
  NOTE("zeCommandQueueSynchronize", 0, OF_LIST, (void *)queue);
  return 0;
}
EXPORTED ze_result_t zeCommandListHostSynchronize(ze_command_list_handle_t list, uint64_t timeout) {
  (void)timeout;
  NOTE("zeCommandListHostSynchronize", 0, OF_LIST, (void *)list);
  return 0;
}
EXPORTED ze_result_t zeFenceHostSynchronize(ze_fence_handle_t fence, uint64_t timeout) {
  (void)fence, (void)timeout;
  NOTE("zeFenceHostSynchronize", 0, "");
  return 0;
}
