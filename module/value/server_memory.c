/* SPDX-License-Identifier: MIT */
#include "value/server_memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api.h"

/* Less than this is cleared by hand where a server lacks TryCalloc. */
enum { FEW = 64 * 1024 };

/* Lazy freeing runs in a thread of the server. */
static _Atomic uint64_t given;

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

static void *take(void *ctx, size_t size) {
    (void)ctx;
    if (size >= BF_LARGE && !bf_memory_available(size)) return NULL;
    void *ptr = zeroed(size);
    if (ptr) atomic_fetch_add_explicit(&given, RedisModule_MallocSize(ptr), memory_order_relaxed);
    return ptr;
}

static void give_back(void *ctx, void *ptr) {
    (void)ctx;
    if (!ptr) return;
    atomic_fetch_sub_explicit(&given, RedisModule_MallocSize(ptr), memory_order_relaxed);
    RedisModule_Free(ptr);
}

umbeli_settings bf_memory_settings(uint64_t max_bytes, const uint8_t *secret) {
    umbeli_settings settings = {
        .hook = {.alloc = take, .free = give_back},
        .hook_zeroes = true,
        .max_bytes = max_bytes,
        .threads = 1,
        .keyed = secret != NULL,
    };
    if (secret) settings.secret = umbeli_secret_from(secret);
    return settings;
}

uint64_t bf_memory_bytes(void) {
    return atomic_load_explicit(&given, memory_order_relaxed);
}

void *bf_memory_new(size_t size) {
    return take(NULL, size);
}

void bf_memory_delete(void *ptr) {
    give_back(NULL, ptr);
}

static bool available(uint64_t *bytes) {
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long kib = 0;
    bool found = false;
    if (!file) return false;
    while (!found && fgets(line, sizeof line, file))
        found = sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
    fclose(file);
    *bytes = (uint64_t)kib * 1024;
    return found;
}

static uint64_t resident(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long long pages = 0;
    if (!file) return UINT64_MAX;
    bool found = fscanf(file, "%*u %llu", &pages) == 1;
    fclose(file);
    return found ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : UINT64_MAX;
}

bool bf_memory_available(size_t bytes) {
    uint64_t there = 0, taken = bf_memory_bytes(), used = resident();
    if (!available(&there)) return true;
    there -= there / 8; /* others live here, too */
    uint64_t unused = taken > used ? taken - used : 0;
    return bytes <= there && unused <= there - bytes;
}
