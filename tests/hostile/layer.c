/* A Vulkan layer for tests: the device is lost at the n-th submission, or memory ends at the n-th
 * allocation, counted from the start of the process.
 *
 * Input: LANESCOPE_TEST_LOST_AT, LANESCOPE_TEST_MEMORY_AT, numbers from 1. Output: VK_ERROR_DEVICE_LOST
 * from the submission of that number and all later ones; VK_ERROR_OUT_OF_DEVICE_MEMORY from that
 * allocation alone. The types are those of the loader's interface for layers, version 2, as far as they
 * are needed here: the headers are not, since they may not be installed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*function)(void);
typedef function (*get_proc)(void *, const char *);
typedef int32_t (*create_instance)(const void *, const void *, void **);
typedef int32_t (*create_device)(void *, const void *, const void *, void **);
typedef int32_t (*submit)(void *, uint32_t, const void *, uint64_t);
typedef int32_t (*allocate)(void *, const void *, const void *, uint64_t *);

enum { LOADER_INSTANCE = 47, LOADER_DEVICE = 48, LINK_INFO = 0 };
enum { DEVICE_LOST = -4, OUT_OF_DEVICE_MEMORY = -2, INITIALIZATION_FAILED = -3 };

struct link {
    struct link *next;
    get_proc get_instance_proc;
    get_proc get_next; /* of physical devices for instances, of devices for devices */
};

struct info {
    int32_t type;
    const struct info *next;
    int32_t what;
    struct link *link;
};

struct negotiate {
    int32_t type;
    void *next;
    uint32_t version;
    get_proc get_instance_proc, get_device_proc, get_physical_device_proc;
};

static get_proc next_instance_proc, next_device_proc;
static submit next_submit, next_submit2;
static allocate next_allocate;

static int reached(const char *name, int32_t *count, int once) {
    const char *at = getenv(name);
    if (at == NULL || atoi(at) < 1) return 0;
    int32_t now = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    return once ? now == atoi(at) : now >= atoi(at);
}

static int32_t submissions, allocations;

static int32_t own_submit(void *queue, uint32_t count, const void *submits, uint64_t fence) {
    if (reached("LANESCOPE_TEST_LOST_AT", &submissions, 0)) return DEVICE_LOST;
    return next_submit(queue, count, submits, fence);
}

static int32_t own_submit2(void *queue, uint32_t count, const void *submits, uint64_t fence) {
    if (reached("LANESCOPE_TEST_LOST_AT", &submissions, 0)) return DEVICE_LOST;
    return next_submit2(queue, count, submits, fence);
}

static int32_t own_allocate(void *device, const void *info, const void *own, uint64_t *memory) {
    if (reached("LANESCOPE_TEST_MEMORY_AT", &allocations, 1)) return OUT_OF_DEVICE_MEMORY;
    return next_allocate(device, info, own, memory);
}

/* Takes this layer's link out of the chain that the loader hands down. */
static struct link *take(const void *create, int32_t type) {
    for (struct info *info = (struct info *)((const struct info *)create)->next; info != NULL;
         info = (struct info *)info->next) {
        if (info->type == type && info->what == LINK_INFO) {
            struct link *link = info->link;
            info->link = link->next;
            return link;
        }
    }
    return NULL;
}

static int32_t own_create_instance(const void *create, const void *own, void **instance) {
    struct link *link = take(create, LOADER_INSTANCE);
    if (link == NULL) return INITIALIZATION_FAILED;
    next_instance_proc = link->get_instance_proc;
    create_instance next = (create_instance)next_instance_proc(NULL, "vkCreateInstance");
    return next(create, own, instance);
}

static int32_t own_create_device(void *physical, const void *create, const void *own, void **device) {
    struct link *link = take(create, LOADER_DEVICE);
    if (link == NULL) return INITIALIZATION_FAILED;
    next_device_proc = link->get_next;
    create_device next = (create_device)link->get_instance_proc(NULL, "vkCreateDevice");
    int32_t result = next(physical, create, own, device);
    if (result == 0) {
        next_submit = (submit)next_device_proc(*device, "vkQueueSubmit");
        next_submit2 = (submit)next_device_proc(*device, "vkQueueSubmit2");
        next_allocate = (allocate)next_device_proc(*device, "vkAllocateMemory");
    }
    return result;
}

static function own_instance_proc(void *instance, const char *name);

static function own_device_proc(void *device, const char *name) {
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) return (function)own_device_proc;
    if (strcmp(name, "vkQueueSubmit") == 0) return (function)own_submit;
    if (strcmp(name, "vkAllocateMemory") == 0) return (function)own_allocate;
    function next = next_device_proc(device, name);
    if (next != NULL && strcmp(name, "vkQueueSubmit2") == 0) return (function)own_submit2;
    return next;
}

static function own_instance_proc(void *instance, const char *name) {
    if (strcmp(name, "vkGetInstanceProcAddr") == 0) return (function)own_instance_proc;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) return (function)own_device_proc;
    if (strcmp(name, "vkCreateInstance") == 0) return (function)own_create_instance;
    if (strcmp(name, "vkCreateDevice") == 0) return (function)own_create_device;
    return next_instance_proc == NULL ? NULL : next_instance_proc(instance, name);
}

__attribute__((visibility("default"))) int32_t
vkNegotiateLoaderLayerInterfaceVersion(struct negotiate *loader) {
    if (loader->version > 2) loader->version = 2;
    loader->get_instance_proc = own_instance_proc;
    loader->get_device_proc = own_device_proc;
    loader->get_physical_device_proc = NULL;
    return 0;
}
