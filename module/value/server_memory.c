/* SPDX-License-Identifier: MIT */
#include "value/server_memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api.h"

/* Atomic: lazy freeing runs in another thread of the server. */
static _Atomic uint64_t given;

static void *take(void *ctx, size_t size) {
    (void)ctx;
    if (size >= BF_LARGE && !bf_memory_available(size)) return NULL;
    void *ptr = RedisModule_TryAlloc(size);
    if (ptr) atomic_fetch_add_explicit(&given, RedisModule_MallocSize(ptr), memory_order_relaxed);
    return ptr;
}

static void give_back(void *ctx, void *ptr) {
    (void)ctx;
    if (!ptr) return;
    atomic_fetch_sub_explicit(&given, RedisModule_MallocSize(ptr), memory_order_relaxed);
    RedisModule_Free(ptr);
}

const umbel_alloc bf_memory = {.alloc = take, .free = give_back};

uint64_t bf_memory_bytes(void) {
    return atomic_load_explicit(&given, memory_order_relaxed);
}

void *bf_memory_new(size_t size) {
    void *ptr = take(NULL, size);
    if (ptr) memset(ptr, 0, size);
    return ptr;
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

bool bf_memory_available(size_t bytes) {
    uint64_t there = 0;
    if (!available(&there)) return true;
    return bytes <= there - there / 8; /* leave something for other processes */
}
