/* A Vulkan layer for tests: the device is lost at the n-th submission, memory ends at the n-th
 * allocation, nothing is waited for from the n-th wait on, counted from the start of the process, no device is made,
 * timestamps are none, subgroups have another size, device and driver another name.
 *
 * Input: LANESCOPE_TEST_LOST_AT, LANESCOPE_TEST_MEMORY_AT, LANESCOPE_TEST_TIMEOUT_AT, LANESCOPE_TEST_REFUSED_AT, numbers
 * from 1; LANESCOPE_TEST_TIMES, which is
 * `none` (queues have no timestamps), `zero`, `backwards`, `jumps` (now and then by a minute), or one of
 * the last two with `later_` before it, which begins when the device has been examined, after so many
 * pairs of timestamps as LATER says; LANESCOPE_TEST_WIDTH, the size that the driver reports, where 0 means
 * that it has no subgroup operations; LANESCOPE_TEST_NAME, what the driver calls the device, itself and its
 * version. Output: VK_ERROR_DEVICE_LOST from the submission of that number and
 * all later ones; VK_ERROR_OUT_OF_DEVICE_MEMORY from that allocation alone; VK_TIMEOUT from that wait for a semaphore or
 * fences and all later ones; VK_ERROR_INITIALIZATION_FAILED from that making of a device and all later ones; such
 * properties and timestamps.
 * The types are those of the loader's interface for layers, version 2, as far as they are needed here: the
 * headers are not, since they may not be installed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*function)(void);
typedef function (*get_proc)(void *, const char *);
typedef int32_t (*create_instance)(const void *, const void *, void **);
typedef int32_t (*create_device)(void *, const void *, const void *, void **);
typedef int32_t (*submit)(void *, uint32_t, const void *, uint64_t);
typedef int32_t (*allocate)(void *, const void *, const void *, uint64_t *);
typedef int32_t (*wait_semaphores)(void *, const void *, uint64_t);
typedef int32_t (*wait_fences)(void *, uint32_t, const void *, uint32_t, uint64_t);
typedef void (*get_properties)(void *, void *);
typedef void (*get_queues)(void *, uint32_t *, void *);
typedef void (*copy_results)(void *, uint64_t, uint32_t, uint32_t, uint64_t, uint64_t, uint64_t, uint32_t);
typedef void (*update_buffer)(void *, uint64_t, uint64_t, uint64_t, const void *);

enum { LOADER_INSTANCE = 47, LOADER_DEVICE = 48, LINK_INFO = 0 };
enum { SUBGROUPS = 1000094000, SUBGROUP_SIZES = 1000225000, DRIVER = 1000196000 };
enum { NAME_BYTES = 256 };
enum { LATER = 80 };
enum { DEVICE_LOST = -4, OUT_OF_DEVICE_MEMORY = -2, INITIALIZATION_FAILED = -3, TIMEOUT = 2 };

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

/* VkPhysicalDeviceSubgroupProperties, and VkPhysicalDeviceSubgroupSizeControlProperties, whose second
 * number is the largest size. */
struct subgroups {
    int32_t type;
    struct subgroups *next;
    uint32_t size, stages_or_size_max, operations, rest;
};

/* VkPhysicalDeviceProperties as far as the name; what follows is the driver's affair. */
struct named {
    uint32_t versions_and_kinds[5];
    char name[NAME_BYTES];
};

/* VkPhysicalDeviceProperties2, as far. */
struct named2 {
    int32_t type;
    void *next;
    struct named properties;
};

/* VkPhysicalDeviceDriverProperties. */
struct driver {
    int32_t type;
    void *next;
    uint32_t id;
    char name[NAME_BYTES], info[NAME_BYTES];
};

struct queue {
    uint32_t flags, count, timestamp_bits, granularity[3];
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
static wait_semaphores next_wait_semaphores;
static wait_fences next_wait_fences;
static get_properties next_properties, next_plain_properties;
static get_queues next_queues;
static copy_results next_copy_results;
static update_buffer next_update_buffer;

static int reached(const char *name, int32_t *count, int once) {
    const char *at = getenv(name);
    if (at == NULL || atoi(at) < 1) return 0;
    int32_t now = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    return once ? now == atoi(at) : now >= atoi(at);
}

static int32_t submissions, allocations, waits, devices;

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

static int32_t own_wait_semaphores(void *device, const void *what, uint64_t limit) {
    if (reached("LANESCOPE_TEST_TIMEOUT_AT", &waits, 0)) return TIMEOUT;
    return next_wait_semaphores(device, what, limit);
}

static int32_t own_wait_fences(void *device, uint32_t count, const void *fences, uint32_t all, uint64_t limit) {
    if (reached("LANESCOPE_TEST_TIMEOUT_AT", &waits, 0)) return TIMEOUT;
    return next_wait_fences(device, count, fences, all, limit);
}

/* Whether the variable for times has this value. */
static int times_are(const char *value) {
    const char *times = getenv("LANESCOPE_TEST_TIMES");
    return times != NULL && strcmp(times, value) == 0;
}

/* Puts the name that is asked for in place of the driver's. */
static void call_it(char name[NAME_BYTES]) {
    const char *asked = getenv("LANESCOPE_TEST_NAME");
    if (asked == NULL) return;
    memset(name, 0, NAME_BYTES);
    strncpy(name, asked, NAME_BYTES - 1);
}

static void own_plain_properties(void *physical, void *properties) {
    next_plain_properties(physical, properties);
    call_it(((struct named *)properties)->name);
}

static void own_properties(void *physical, void *properties) {
    next_properties(physical, properties);
    call_it(((struct named2 *)properties)->properties.name);
    for (struct subgroups *at = properties; at != NULL; at = at->next) {
        if (at->type == DRIVER) {
            call_it(((struct driver *)at)->name);
            call_it(((struct driver *)at)->info);
        }
    }
    const char *width = getenv("LANESCOPE_TEST_WIDTH");
    if (width == NULL) return;
    for (struct subgroups *at = properties; at != NULL; at = at->next) {
        if (at->type == SUBGROUPS) {
            if (atoi(width) == 0) at->operations = 0;
            else at->size = atoi(width);
        } else if (at->type == SUBGROUP_SIZES && atoi(width) != 0) {
            at->size = at->stages_or_size_max = atoi(width);
        }
    }
}

static void own_queues(void *physical, uint32_t *count, void *queues) {
    next_queues(physical, count, queues);
    for (uint32_t i = 0; queues != NULL && times_are("none") && i < *count; i++)
        ((struct queue *)queues)[i].timestamp_bits = 0;
}

/* Puts other ticks than the device's where its timestamps were to go. */
static void own_copy_results(void *commands, uint64_t pool, uint32_t first, uint32_t count, uint64_t buffer,
                             uint64_t offset, uint64_t stride, uint32_t flags) {
    static uint64_t now = UINT64_C(1) << 40, number, copies;
    int later = ++copies > LATER, zero = times_are("zero");
    int backwards = times_are("backwards") || (later && times_are("later_backwards"));
    int jumps = times_are("jumps") || (later && times_are("later_jumps"));
    if (!zero && !backwards && !jumps) {
        next_copy_results(commands, pool, first, count, buffer, offset, stride, flags);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t step = jumps && ++number % 7 == 0 ? UINT64_C(60000000000) : 12345;
        now = backwards ? now - step : now + step;
        uint64_t ticks = zero ? 0 : now;
        next_update_buffer(commands, buffer, offset + i * stride, sizeof ticks, &ticks);
    }
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
    int32_t result = next(create, own, instance);
    if (result == 0) {
        next_properties = (get_properties)next_instance_proc(*instance, "vkGetPhysicalDeviceProperties2");
        if (next_properties == NULL)
            next_properties =
                (get_properties)next_instance_proc(*instance, "vkGetPhysicalDeviceProperties2KHR");
        next_plain_properties =
            (get_properties)next_instance_proc(*instance, "vkGetPhysicalDeviceProperties");
        next_queues =
            (get_queues)next_instance_proc(*instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    }
    return result;
}

static int32_t own_create_device(void *physical, const void *create, const void *own, void **device) {
    struct link *link = take(create, LOADER_DEVICE);
    if (link == NULL || reached("LANESCOPE_TEST_REFUSED_AT", &devices, 0)) return INITIALIZATION_FAILED;
    next_device_proc = link->get_next;
    create_device next = (create_device)link->get_instance_proc(NULL, "vkCreateDevice");
    int32_t result = next(physical, create, own, device);
    if (result == 0) {
        next_submit = (submit)next_device_proc(*device, "vkQueueSubmit");
        next_submit2 = (submit)next_device_proc(*device, "vkQueueSubmit2");
        next_allocate = (allocate)next_device_proc(*device, "vkAllocateMemory");
        next_wait_semaphores = (wait_semaphores)next_device_proc(*device, "vkWaitSemaphores");
        if (next_wait_semaphores == NULL)
            next_wait_semaphores = (wait_semaphores)next_device_proc(*device, "vkWaitSemaphoresKHR");
        next_wait_fences = (wait_fences)next_device_proc(*device, "vkWaitForFences");
        next_copy_results = (copy_results)next_device_proc(*device, "vkCmdCopyQueryPoolResults");
        next_update_buffer = (update_buffer)next_device_proc(*device, "vkCmdUpdateBuffer");
    }
    return result;
}

static function own_instance_proc(void *instance, const char *name);

static function own_device_proc(void *device, const char *name) {
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) return (function)own_device_proc;
    if (strcmp(name, "vkQueueSubmit") == 0) return (function)own_submit;
    if (strcmp(name, "vkAllocateMemory") == 0) return (function)own_allocate;
    if (strcmp(name, "vkCmdCopyQueryPoolResults") == 0) return (function)own_copy_results;
    if (strcmp(name, "vkWaitForFences") == 0) return (function)own_wait_fences;
    int semaphores = strcmp(name, "vkWaitSemaphores") == 0 || strcmp(name, "vkWaitSemaphoresKHR") == 0;
    if (semaphores && next_wait_semaphores != NULL) return (function)own_wait_semaphores;
    function next = next_device_proc(device, name);
    if (next != NULL && strcmp(name, "vkQueueSubmit2") == 0) return (function)own_submit2;
    return next;
}

static function own_instance_proc(void *instance, const char *name) {
    if (strcmp(name, "vkGetInstanceProcAddr") == 0) return (function)own_instance_proc;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) return (function)own_device_proc;
    if (strcmp(name, "vkCreateInstance") == 0) return (function)own_create_instance;
    if (strcmp(name, "vkCreateDevice") == 0) return (function)own_create_device;
    int properties = strcmp(name, "vkGetPhysicalDeviceProperties2") == 0 ||
                     strcmp(name, "vkGetPhysicalDeviceProperties2KHR") == 0;
    if (properties && next_properties != NULL) return (function)own_properties;
    if (strcmp(name, "vkGetPhysicalDeviceProperties") == 0 && next_plain_properties != NULL)
        return (function)own_plain_properties;
    if (strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties") == 0 && next_queues != NULL)
        return (function)own_queues;
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
