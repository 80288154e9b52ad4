/* SPDX-License-Identifier: MIT
 *
 * leveldb_policy.c - filter policies for LevelDB, built from umbel's parts
 *
 * LevelDB queries one small filter for one key at a time, so there are no handles here: hash,
 * probe, done.  Nor are the blocked kind's kernels used, whose loops over many keys would make this
 * library ten times as large.
 */
#include "umbel_leveldb.h"

#include <stdlib.h>

#include "core/bits.h"
#include "core/cpu.h"
#include "hash/foreign_hash.h"
#include "kind/blocked/blocked.h"
#include "tables/leveldb/leveldb_raw.h"
#include "tables/leveldb/leveldb_table.h"

enum { FEW_KEYS = 512 }; /* usually those of one data block */

typedef struct policy {
    uint32_t bits_per_key;
    bool (*has)(const uint8_t *block, uint64_t hash); /* of the split-block policy, for this CPU */
    void (*put)(uint8_t *block, uint64_t hash);
} policy;

static void destroy(void *state) {
    free(state);
}

/* Errors cannot be reported here, and an empty filter would lose keys, so this gives two bytes that
 * match every key under either policy.  Without memory for those it aborts, as LevelDB itself does.
 */
static char *match_all(size_t *len) {
    uint8_t *filter = malloc(2);
    if (!filter) abort();
    filter[0] = 0;
    filter[1] = UINT8_MAX;
    *len = 2;
    return (char *)filter;
}

/* ---- leveldb.BuiltinBloomFilter2 ---- */

static char *builtin_create(void *state, const char *const *keys, const size_t *lens, int n,
                            size_t *len) {
    const policy *p = state;
    size_t count = n > 0 ? (size_t)n : 0, size = umbeli_leveldb_fill_len(count, p->bits_per_key);
    uint32_t few[FEW_KEYS], *hashes = count > FEW_KEYS ? malloc(count * sizeof *hashes) : few;
    uint8_t *filter = size ? calloc(1, size) : NULL;
    if (!hashes || !filter) {
        if (hashes != few) free(hashes);
        free(filter);
        return match_all(len);
    }
    for (size_t i = 0; i < count; i++) hashes[i] = umbeli_leveldb_hash(keys[i], lens[i]);
    umbeli_leveldb_fill(filter, size, p->bits_per_key, hashes, count);
    if (hashes != few) free(hashes);
    *len = size;
    return (char *)filter;
}

static uint8_t builtin_match(void *state, const char *key, size_t len, const char *filter,
                             size_t filter_len) {
    (void)state;
    return umbeli_leveldb_fill_has((const uint8_t *)filter, filter_len,
                                   umbeli_leveldb_hash(key, len));
}

static const char *builtin_name(void *state) {
    (void)state;
    return "leveldb.BuiltinBloomFilter2";
}

/* ---- umbel.SplitBlock ---- */

static inline bool lanes_have(const uint8_t *block, uint64_t hash) {
    uint32_t missing = 0;
    for (size_t i = 0; i < UMBELI_BLOCK_LANES; i++) {
        missing |= UINT32_C(1) << umbeli_block_bit(hash, i) & ~umbeli_load_le32(block + 4 * i);
    }
    return missing == 0;
}

static inline void lanes_put(uint8_t *block, uint64_t hash) {
    for (size_t i = 0; i < UMBELI_BLOCK_LANES; i++) {
        uint32_t bit = UINT32_C(1) << umbeli_block_bit(hash, i);
        umbeli_store_le32(block + 4 * i, umbeli_load_le32(block + 4 * i) | bit);
    }
}

static bool has_generic(const uint8_t *block, uint64_t hash) {
    return lanes_have(block, hash);
}

static void put_generic(uint8_t *block, uint64_t hash) {
    lanes_put(block, hash);
}

#if UMBELI_X86
/* Compilers turn the loops into a few vector instructions. */
__attribute__((target("avx2"))) static bool has_avx2(const uint8_t *block, uint64_t hash) {
    return lanes_have(block, hash);
}

__attribute__((target("avx2"))) static void put_avx2(uint8_t *block, uint64_t hash) {
    lanes_put(block, hash);
}
#else
#define has_avx2 has_generic
#define put_avx2 put_generic
#endif

static size_t place_of(uint64_t nblocks, uint64_t hash) {
    return (size_t)(UMBELI_BLOCK_BYTES * umbeli_block_of(hash, nblocks));
}

static char *split_create(void *state, const char *const *keys, const size_t *lens, int n,
                          size_t *len) {
    const policy *p = state;
    uint64_t count = n > 0 ? (uint64_t)n : 0, bits = count * p->bits_per_key;
    uint64_t blocks = bits / (8 * UMBELI_BLOCK_BYTES) + (bits % (8 * UMBELI_BLOCK_BYTES) != 0);
    if (blocks == 0) blocks = 1;
    uint64_t size = blocks * UMBELI_BLOCK_BYTES + 1;
    uint8_t *filter = blocks <= UINT32_MAX && size <= SIZE_MAX ? calloc(1, (size_t)size) : NULL;
    if (!filter) return match_all(len);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t hash = umbeli_xxh64(keys[i], lens[i], 0);
        p->put(filter + place_of(blocks, hash), hash);
    }
    filter[size - 1] = UMBELI_SPLIT_TAG;
    *len = (size_t)size;
    return (char *)filter;
}

static uint8_t split_match(void *state, const char *key, size_t len, const char *filter,
                           size_t filter_len) {
    const policy *p = state;
    const uint8_t *blocks = (const uint8_t *)filter;
    if (filter_len == 0) return 0; /* a stretch of the file without keys */
    bool sound = filter_len > 1 && filter_len % UMBELI_BLOCK_BYTES == 1 &&
                 blocks[filter_len - 1] == UMBELI_SPLIT_TAG;
    if (!sound) return 1;
    uint64_t hash = umbeli_xxh64(key, len, 0);
    return p->has(blocks + place_of(filter_len / UMBELI_BLOCK_BYTES, hash), hash);
}

static const char *split_name(void *state) {
    (void)state;
    return "umbel.SplitBlock";
}

/* ---- Making them ---- */

static policy *new_policy(int bits_per_key) {
    policy *p = malloc(sizeof *p);
    bool avx2 = umbeli_cpu() & UMBELI_CPU_AVX2;
    if (p) {
        *p = (policy){.bits_per_key = (uint32_t)bits_per_key,
                      .has = avx2 ? has_avx2 : has_generic,
                      .put = avx2 ? put_avx2 : put_generic};
    }
    return p;
}

leveldb_filterpolicy_t *umbel_leveldb_builtin(int bits_per_key) {
    policy *p = bits_per_key < 0 ? NULL : new_policy(bits_per_key);
    return p ? leveldb_filterpolicy_create(p, destroy, builtin_create, builtin_match, builtin_name)
             : NULL;
}

leveldb_filterpolicy_t *umbel_leveldb_split_block(int bits_per_key) {
    policy *p = bits_per_key < 1 ? NULL : new_policy(bits_per_key);
    return p ? leveldb_filterpolicy_create(p, destroy, split_create, split_match, split_name)
             : NULL;
}
