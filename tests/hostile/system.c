/* What the system does to a process, for tests: the disk is full from the k-th write of a record on, a step of
 * saving one fails from the k-th save on, and clocks jump. It is loaded before the system's own library.
 *
 * Input: LANESCOPE_TEST_FULL_AT, a number from 1: that write to a file whose name has `result.json`, and
 * every later one, fails with ENOSPC. LANESCOPE_TEST_SAVE, such as `rename 2 EIO`: `fsync` of such a file, its
 * `rename`, or `folder`, the fsync of a folder, fails from that time on with ENOSPC or EIO. LANESCOPE_TEST_CLOCK: `calendar` lets each reading of the time of
 * day lie a year before the last one, `hour` lets the clock that only goes forward go an hour forward
 * at every thousandth reading. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int is_record(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, "result.json") != NULL;
}

ssize_t write(int file, const void *bytes, size_t count) {
    static int32_t writes;
    static ssize_t (*next)(int, const void *, size_t);
    if (next == NULL) next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    const char *at = getenv("LANESCOPE_TEST_FULL_AT");
    if (at != NULL && is_record(file) && __atomic_add_fetch(&writes, 1, __ATOMIC_SEQ_CST) >= atoi(at)) {
        errno = ENOSPC;
        return -1;
    }
    return next(file, bytes, count);
}

/* Whether this step of a save is to fail now, with which error. */
static int fails(const char *step, int32_t *count) {
    char which[16], error[16];
    int at;
    const char *asked = getenv("LANESCOPE_TEST_SAVE");
    if (asked == NULL || sscanf(asked, "%15s %d %15s", which, &at, error) != 3) return 0;
    if (strcmp(which, step) != 0 || __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST) < at) return 0;
    errno = strcmp(error, "EIO") == 0 ? EIO : ENOSPC;
    return 1;
}

int fsync(int file) {
    static int32_t files, folders;
    static int (*next)(int);
    struct stat about;
    if (next == NULL) next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int is_folder = fstat(file, &about) == 0 && S_ISDIR(about.st_mode);
    if (is_folder && fails("folder", &folders)) return -1;
    if (!is_folder && is_record(file) && fails("fsync", &files)) return -1;
    return next(file);
}

int rename(const char *from, const char *to) {
    static int32_t renames;
    static int (*next)(const char *, const char *);
    if (next == NULL) next = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    if (strstr(to, "result.json") != NULL && fails("rename", &renames)) return -1;
    return next(from, to);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int32_t days, readings;
    static int (*next)(clockid_t, struct timespec *);
    if (next == NULL) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = next(clock, time);
    const char *how = getenv("LANESCOPE_TEST_CLOCK");
    if (how == NULL || result != 0) return result;
    if (clock == CLOCK_REALTIME && strcmp(how, "calendar") == 0)
        time->tv_sec -= 366L * 86400 * __atomic_add_fetch(&days, 1, __ATOMIC_SEQ_CST);
    if (clock == CLOCK_MONOTONIC && strcmp(how, "hour") == 0)
        time->tv_sec += 3600L * (__atomic_add_fetch(&readings, 1, __ATOMIC_SEQ_CST) / 1000);
    return result;
}
