/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "core/cpu.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { AHEAD = 64, RING = 128, HUGE_PAGE = 2 * 1024 * 1024, BLOCK_BYTES = 32 };

uint8_t *lines_new(size_t bytes) {
    size_t room = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uint8_t *lines = aligned_alloc(HUGE_PAGE, room);
    if (!lines) {
        fprintf(stderr, "umbel-bench: no memory for the floor\n");
        exit(2);
    }
#ifdef MADV_HUGEPAGE
    if (bytes >= 2 * (size_t)HUGE_PAGE) (void)madvise(lines, room, MADV_HUGEPAGE);
#endif
    memset(lines, 1, room);
    return lines;
}

static size_t offset_of(uint64_t nlines, uint64_t hash) {
    return BLOCK_BYTES * (size_t)(((hash >> 32) * nlines) >> 32);
}

uint64_t floor_by_hash(const uint8_t *lines, uint64_t nlines, const uint64_t *hashes, size_t n) {
    const bool is_far = umbeli_is_far(nlines * BLOCK_BYTES);
    uint64_t sum = 0;
    size_t i = 0;
    for (; i + AHEAD < n; i++) {
        umbeli_fetch(lines + offset_of(nlines, hashes[i + AHEAD]), is_far);
        sum += lines[offset_of(nlines, hashes[i])];
    }
    for (; i < n; i++) sum += lines[offset_of(nlines, hashes[i])];
    return sum;
}

uint64_t floor_by_key(const uint8_t *lines, uint64_t nlines, const umbel_key *keys, size_t n) {
    const bool is_far = umbeli_is_far(nlines * BLOCK_BYTES);
    const uint8_t *ring[RING];
    uint64_t sum = 0;
    for (size_t i = 0; i < n + AHEAD; i++) {
        if (i >= AHEAD) sum += *ring[(i - AHEAD) % RING];
        if (i >= n) continue;
        uint64_t hash = XXH3_64bits_withSeed(keys[i].data, keys[i].len, 0);
        ring[i % RING] = lines + offset_of(nlines, hash);
        umbeli_fetch(ring[i % RING], is_far);
    }
    return sum;
}

const uint32_t block_salts[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

static uint64_t count_in_c(const uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes,
                           size_t n) {
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *block = blocks + offset_of(nblocks, hashes[i]);
        uint32_t missing = 0;
        for (size_t lane = 0; lane < 8; lane++) {
            uint32_t bit = 32 * (uint32_t)lane + (((uint32_t)hashes[i] * block_salts[lane]) >> 27);
            missing |= ~(uint32_t)block[bit / 8] >> bit % 8 & 1;
        }
        found += !missing;
    }
    return found;
}

#if defined(__x86_64__)

uint64_t floor_by_four(const uint8_t *lines, uint64_t nlines, const uint64_t *hashes, size_t n) {
    return __builtin_cpu_supports("avx2") ? floor_avx2(lines, nlines, hashes, n)
                                          : floor_by_hash(lines, nlines, hashes, n);
}

uint64_t inlined_count(const uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n) {
    return __builtin_cpu_supports("avx2") ? inlined_avx2(blocks, nblocks, hashes, n)
                                          : count_in_c(blocks, nblocks, hashes, n);
}

#else

uint64_t floor_by_four(const uint8_t *lines, uint64_t nlines, const uint64_t *hashes, size_t n) {
    return floor_by_hash(lines, nlines, hashes, n);
}

uint64_t inlined_count(const uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n) {
    return count_in_c(blocks, nblocks, hashes, n);
}

#endif
