/* SPDX-License-Identifier: MIT */
#include "value/server_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api.h"

/* Allocations smaller than this are cleared by hand where a server lacks TryCalloc. */
enum { FEW = 64 * 1024 };

/* Merges run in threads of the module, lazy freeing in one of the server. */
static _Atomic uint64_t allocated;

uint64_t bf_memory_bytes(void) {
    return atomic_load_explicit(&allocated, memory_order_relaxed);
}

/* The server answers the thread that serves clients.  All others may take memory from it and give
 * it back, and nothing else. */
static pthread_t serving;

void bf_memory_register(void) {
    serving = pthread_self();
}

static bool may_ask(void) {
    return pthread_equal(pthread_self(), serving);
}

/* ---- How much there is, and how much is left ---- */

/* The number in the first line that the format matches; false: no such file or number ("max"). */
static bool read_number(const char *path, const char *format, uint64_t *out) {
    FILE *file = fopen(path, "re");
    char line[128];
    unsigned long long number = 0;
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        found = sscanf(line, format, &number) == 1;
    }
    if (file) fclose(file);
    *out = number;
    return found;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a && (!b || a < b) ? a : b;
}

/* The limit of a control group, whose path inside a container may be the one outside. */
static uint64_t group_limit(const char *mount, const char *group, const char *file) {
    char path[1200];
    snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
    uint64_t inside = 0, outside = 0;
    (void)read_number(path, "%llu", &outside);
    snprintf(path, sizeof path, "%s/%s", mount, file);
    (void)read_number(path, "%llu", &inside);
    return smaller(outside, inside);
}

/* Lines are "id:controllers:path"; version 2 has the id 0 and no controllers. */
static uint64_t container_limit(void) {
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[1100], path[1024];
    uint64_t limit = 0;
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "0::%1023[^\n]", path) == 1) {
            limit = smaller(limit, group_limit("/sys/fs/cgroup", path, "memory.max"));
        } else if (sscanf(line, "%*u:memory:%1023[^\n]", path) == 1) {
            limit =
                smaller(limit, group_limit("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
        }
    }
    fclose(file);
    return limit;
}

uint64_t bf_memory_of_machine(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    return smaller(machine, container_limit());
}

/* What the machine has left or, in a container, where the server is alone, what it may use and does
 * not. */
static bool memory_left(uint64_t used, uint64_t *bytes) {
    uint64_t limit = container_limit(), kib = 0;
    bool known = read_number("/proc/meminfo", "MemAvailable: %llu kB", &kib);
    *bytes = 1024 * kib;
    if (!limit || used == UINT64_MAX) return known;
    uint64_t rest = limit > used ? limit - used : 0;
    if (!known || rest < *bytes) *bytes = rest;
    return true;
}

/* Kernels overcommit: a large allocation succeeds, and its first use gets the server killed.
 * Memory that is allocated but not yet in use counts as taken.  True where nothing is known. */
static bool is_available(size_t bytes) {
    uint64_t left = 0, ours = bf_memory_bytes(), pages = 0, used = UINT64_MAX;
    if (read_number("/proc/self/statm", "%*u %llu", &pages)) {
        used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    }
    if (!memory_left(used, &left)) return true;
    left -= left / 8; /* others live here too */
    uint64_t unused = ours > used ? ours - used : 0;
    return bytes <= left && unused <= left - bytes;
}

/* ---- The server's allocator ---- */

/* Calloc ends the server when there is no memory: before Redis 7.4 and Valkey 8 TryAlloc tells
 * whether there is. */
static void *zeroed(size_t size) {
    if (RedisModule_TryCalloc) return RedisModule_TryCalloc(1, size);
    void *ptr = RedisModule_TryAlloc(size);
    if (!ptr) return NULL;
    if (size < FEW) return memset(ptr, 0, size);
    RedisModule_Free(ptr);
    return RedisModule_Calloc(1, size);
}

/* What a primary or a file has is never refused because memory might not suffice: the server would
 * not start, or a replica would differ from its primary.  No other thread works for those. */
static bool must_obey(void) {
    int flags = REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING |
                REDISMODULE_CTX_FLAGS_SLAVE;
    return may_ask() && RedisModule_GetContextFlags(NULL) & flags;
}

static void *allocate(void *ctx, size_t size) {
    (void)ctx;
    if (size >= BF_LARGE && !must_obey() && !is_available(size)) return NULL;
    void *ptr = zeroed(size);
    if (ptr)
        atomic_fetch_add_explicit(&allocated, RedisModule_MallocSize(ptr), memory_order_relaxed);
    return ptr;
}

static void *free_in_thread(void *ptr) {
    RedisModule_Free(ptr);
    return NULL;
}

/* Allocators return large blocks to the system immediately, which takes a tenth of a second or more
 * per gigabyte: too long for the thread that serves clients. */
static bool free_later(void *ptr) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, free_in_thread, ptr)) return false;
    (void)pthread_detach(thread);
    return true;
}

/* A server above maxmemory deletes keys, or refuses writes, until it sees that memory is free.
 * Memory that a thread has yet to free would cost it other keys, so nothing is deferred above half
 * of maxmemory; a single filter takes no more than the other half. */
static bool may_free_later(void) {
    return may_ask() && RedisModule_GetUsedMemoryRatio() <= 0.5F;
}

static void release(void *ctx, void *ptr) {
    (void)ctx;
    if (!ptr) return;
    size_t size = RedisModule_MallocSize(ptr);
    atomic_fetch_sub_explicit(&allocated, size, memory_order_relaxed);
    if (size < BF_LARGE || !may_free_later() || !free_later(ptr)) RedisModule_Free(ptr);
}

umbeli_settings bf_memory_settings(uint64_t max_bytes, const uint8_t *secret) {
    umbeli_settings settings = {
        .hook = {.alloc = allocate, .free = release},
        .hook_zeroes = true,
        .max_bytes = max_bytes,
        .threads = 1,
        .keyed = secret != NULL,
    };
    if (secret) settings.secret = umbeli_secret_from(secret);
    return settings;
}

void *bf_memory_new(size_t size) {
    return allocate(NULL, size);
}

static void *allocate_or_abort(void *ctx, size_t size) {
    (void)ctx;
    void *ptr = RedisModule_Calloc(1, size);
    atomic_fetch_add_explicit(&allocated, RedisModule_MallocSize(ptr), memory_order_relaxed);
    return ptr;
}

void *bf_memory_or_abort(size_t size) {
    return allocate_or_abort(NULL, size);
}

umbel_alloc bf_memory_abort_hook(void) {
    return (umbel_alloc){.alloc = allocate_or_abort, .free = release};
}

void bf_memory_delete(void *ptr) {
    release(NULL, ptr);
}
