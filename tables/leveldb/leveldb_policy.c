/* SPDX-License-Identifier: MIT
 *
 * leveldb_policy.c - filter policies for LevelDB, built from umbel's parts
 *
 * LevelDB queries one small filter for one key at a time, so there are no handles here: hash,
 * probe, done.
 */
#include "umbel_leveldb.h"

#include <stdlib.h>

#include "hash/foreign_hash.h"
#include "kind/blocked/blocked.h"
#include "tables/leveldb/leveldb_raw.h"
#include "tables/leveldb/leveldb_table.h"

enum { FEW_KEYS = 512 }; /* usually those of one data block */

typedef struct policy {
    uint32_t bits_per_key;
    const umbeli_blocked_kernel *kernel; /* of the split-block policy */
} policy;

static void destroy(void *state) {
    free(state);
}

/* Errors cannot be reported here, and an empty filter would lose keys, so this gives two bytes that
 * match every key under either policy.  Aborts, as LevelDB itself does, without memory for those.
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
        p->kernel->add_plain(filter, blocks, &hash, 1, NULL);
    }
    filter[size - 1] = UMBELI_SPLIT_TAG;
    *len = (size_t)size;
    return (char *)filter;
}

static uint8_t split_match(void *state, const char *key, size_t len, const char *filter,
                           size_t filter_len) {
    const policy *p = state;
    const uint8_t *blocks = (const uint8_t *)filter;
    uint8_t hit = 1;
    if (filter_len == 0) return 0; /* a stretch of the file without keys */
    bool sound = filter_len > 1 && filter_len % UMBELI_BLOCK_BYTES == 1 &&
                 blocks[filter_len - 1] == UMBELI_SPLIT_TAG;
    if (!sound) return 1;
    uint64_t hash = umbeli_xxh64(key, len, 0);
    p->kernel->contains_plain(blocks, filter_len / UMBELI_BLOCK_BYTES, &hash, 1, &hit);
    return hit;
}

static const char *split_name(void *state) {
    (void)state;
    return "umbel.SplitBlock";
}

/* ---- Making them ---- */

static policy *new_policy(int bits_per_key) {
    policy *p = malloc(sizeof *p);
    if (p) *p = (policy){(uint32_t)bits_per_key, umbeli_blocked_best()};
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
