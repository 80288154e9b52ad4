/* SPDX-License-Identifier: MIT
 *
 * blocked_loops.h - the loops of a kernel over blocks or lines, included once by each kernel file
 *
 * The including file defines first
 *   KERNEL         the name of its umbeli_blocked_kernel
 *   KERNEL_NAME    the same for people, KERNEL_NEEDS its umbeli_cpu bits
 *   KERNEL_TARGET  the function attribute that lets the compiler use the instructions
 *   KERNEL_OF_LINES    for lines of 4, 8 or 16 lanes: KERNEL is an array[UMBELI_LINE_SHAPES]
 *   BLOCK_LOG2     log2 of the bytes of a block
 *   block_mask     a type, and block_mask mask_of(uint32_t lanes, uint32_t x): the bits of a key
 *   bool block_has(const uint8_t *block, block_mask m)
 *   bool block_put(uint8_t *block, block_mask m): true when a bit was new
 * and may define, after including block_avx2.h,
 *   KERNEL_OFFSETS a faster umbeli_block_offsets: for blocks.  Masks of lines need the multiplier
 *                  themselves.
 *   KERNEL_HASHES  has XXH3 in its functions by key, after including hash/xxh3_avx2.h
 *   KERNEL_KEYS    with KERNEL_HASHES: and has loops over keys
 *
 * The number of lanes is a constant wherever a function is used, and all that take it are inlined
 * there, so each shape gets its own loops.
 */
#include "core/bits.h"
#include "core/cpu.h"
#include "core/platform.h"
#include "kind/kind.h"

#define INLINED KERNEL_TARGET __attribute__((always_inline))
#define NOT_INLINED KERNEL_TARGET __attribute__((noinline))

/* Far enough ahead that a line has arrived when it is needed, near enough that it is still in the
 * cache it was fetched to.  The ring holds offsets, so that each is computed once. */
enum { RING = 32, FAR_RING = 64, AT_ONCE = UMBELI_OFFSETS };

INLINED static inline size_t ring_of(bool is_far) {
    return is_far ? FAR_RING : RING;
}

#ifndef KERNEL_OFFSETS
#define KERNEL_OFFSETS umbeli_block_offsets
#endif

KERNEL_TARGET static inline void offsets_of(const uint64_t *hashes, uint64_t nblocks,
                                            uint64_t *offsets) {
    KERNEL_OFFSETS(hashes, nblocks, BLOCK_LOG2, offsets);
}

#define IS_FAR(nblocks) umbeli_is_far((nblocks) << BLOCK_LOG2)

INLINED static inline uint64_t offset_of(uint64_t hash, uint64_t nblocks) {
    return umbeli_block_of(hash, nblocks) << BLOCK_LOG2;
}

/* The kernels of common processors have XXH3 inlined; others, and other hashes, are called. */
#ifdef KERNEL_HASHES
#define HASHES_ITSELF(b) ((b)->hasher->one == umbeli_xxh3_one)
#define HASH_ONE(key, len, seed) umbeli_xxh3_inline(key, len, seed)
#define HASH_NUMBER(key, seed) umbeli_xxh3_number(key, seed)
#else
#define HASHES_ITSELF(b) false
#define HASH_ONE(key, len, seed) ((void)(seed), UINT64_C(0))
#define HASH_NUMBER(key, seed) UINT64_C(0)
#endif

INLINED static inline uint64_t hash_one(const umbeli_blocked *b, const void *key, size_t len) {
    return HASHES_ITSELF(b) ? HASH_ONE(key, len, b->base.shape.seed)
                            : b->hasher->one(&b->base.shape, key, len);
}

INLINED static inline bool has_one(uint32_t lanes, const uint8_t *blocks, uint64_t nblocks,
                                   uint64_t hash) {
    return block_has(blocks + offset_of(hash, nblocks), mask_of(lanes, (uint32_t)hash));
}

/* A key that is in needs no writing: blocks that many threads add the same keys to are shared by
 * their caches. */
NOT_INLINED static bool put_shared(uint32_t lanes, const umbeli_blocked *b, uint64_t hash) {
    uint64_t block = umbeli_block_of(hash, b->nblocks);
    uint8_t *at = b->base.data + (block << BLOCK_LOG2);
    block_mask m = mask_of(lanes, (uint32_t)hash);
    if (block_has(at, m)) return false;
    umbeli_shard *shard = &b->shards[block >> b->shard_log2];
    umbeli_shard_take(shard);
    bool changed = block_put(at, m);
    umbeli_shard_give(shard);
    return changed;
}

/* block_put for a key that comes alone. */
INLINED static inline bool put_alone(uint32_t lanes, const umbeli_blocked *b, uint64_t hash) {
    if (b->shards) return put_shared(lanes, b, hash);
    return block_put(b->base.data + offset_of(hash, b->nblocks), mask_of(lanes, (uint32_t)hash));
}

INLINED static inline umbel_err add_one(uint32_t lanes, umbel_filter *f, const void *key,
                                        size_t len, bool *was_new) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    bool changed = put_alone(lanes, b, hash_one(b, key, len));
    if (changed) umbeli_count_added(f, 1);
    if (was_new) *was_new = changed;
    return UMBEL_OK;
}

INLINED static inline void contains_group(uint32_t lanes, const uint8_t *blocks,
                                          const uint64_t *offsets, const uint64_t *hashes,
                                          uint8_t *hit) {
    for (size_t j = 0; j < AT_ONCE; j++) {
        hit[j] = block_has(blocks + offsets[j], mask_of(lanes, (uint32_t)hashes[j]));
    }
}

INLINED static inline void contains_here(uint32_t lanes, const uint8_t *blocks, uint64_t nblocks,
                                         const uint64_t *hashes, size_t n, uint8_t *hit) {
    size_t i = 0;
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        uint64_t offsets[AT_ONCE];
        offsets_of(hashes + i, nblocks, offsets);
        contains_group(lanes, blocks, offsets, hashes + i, hit + i);
    }
    for (; i < n; i++) hit[i] = has_one(lanes, blocks, nblocks, hashes[i]);
}

/* For adds too: a line that only this core has is written without asking the others. */
INLINED static inline void fetch_ahead(bool is_far, const uint8_t *blocks, uint64_t nblocks,
                                       const uint64_t *hashes, uint64_t *offsets) {
    offsets_of(hashes, nblocks, offsets);
    for (size_t j = 0; j < AT_ONCE; j++) umbeli_fetch(blocks + offsets[j], is_far);
}

INLINED static inline void fill_ring(bool is_far, const uint8_t *blocks, uint64_t nblocks,
                                     const uint64_t *hashes, size_t n, uint64_t *ring) {
    for (size_t j = 0; j < ring_of(is_far) && j + AT_ONCE <= n; j += AT_ONCE) {
        fetch_ahead(is_far, blocks, nblocks, hashes + j, ring + j);
    }
}

/* A lookup, a prefetch, a lookup ...: prefetches in a row would wait for each other. */
INLINED static inline void contains_fetching(uint32_t lanes, bool is_far, const uint8_t *blocks,
                                             uint64_t *offsets, const uint64_t *next,
                                             const uint64_t *hashes, uint8_t *hit) {
    for (size_t j = 0; j < AT_ONCE; j++) {
        hit[j] = block_has(blocks + offsets[j], mask_of(lanes, (uint32_t)hashes[j]));
        umbeli_fetch(blocks + next[j], is_far);
        offsets[j] = next[j];
    }
}

/* Handles whole groups and returns how many keys that was.  Does nothing where prefetching has no
 * effect: the plain loop is shorter. */
INLINED static inline size_t contains_ahead(uint32_t lanes, bool is_far, const uint8_t *blocks,
                                            uint64_t nblocks, const uint64_t *hashes, size_t n,
                                            uint8_t *hit) {
    const size_t ahead = ring_of(is_far);
    uint64_t ring[FAR_RING], next[AT_ONCE];
    size_t i = 0;
    if (!UMBELI_HAVE_PREFETCH) return 0;
    fill_ring(is_far, blocks, nblocks, hashes, n, ring);
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        uint64_t *offsets = ring + i % ahead;
        if (i + ahead + AT_ONCE <= n) {
            offsets_of(hashes + i + ahead, nblocks, next);
            contains_fetching(lanes, is_far, blocks, offsets, next, hashes + i, hit + i);
        } else {
            contains_group(lanes, blocks, offsets, hashes + i, hit + i);
        }
    }
    return i;
}

/* All masks before the first is ORed in: the multiplications overlap and no load waits for the
 * store before it. */
INLINED static inline uint64_t add_group(uint32_t lanes, uint8_t *blocks, const uint64_t *offsets,
                                         const uint64_t *hashes, uint8_t *was_new) {
    block_mask masks[AT_ONCE];
    uint64_t added = 0;
    for (size_t j = 0; j < AT_ONCE; j++) masks[j] = mask_of(lanes, (uint32_t)hashes[j]);
    for (size_t j = 0; j < AT_ONCE; j++) {
        bool changed = block_put(blocks + offsets[j], masks[j]);
        added += changed;
        if (was_new) was_new[j] = changed;
    }
    return added;
}

INLINED static inline uint64_t add_here(uint32_t lanes, uint8_t *blocks, uint64_t nblocks,
                                        const uint64_t *hashes, size_t n, uint8_t *was_new) {
    uint64_t added = 0;
    size_t i = 0;
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        uint64_t offsets[AT_ONCE];
        offsets_of(hashes + i, nblocks, offsets);
        added += add_group(lanes, blocks, offsets, hashes + i, was_new ? was_new + i : NULL);
    }
    for (; i < n; i++) {
        uint8_t *block = blocks + offset_of(hashes[i], nblocks);
        bool changed = block_put(block, mask_of(lanes, (uint32_t)hashes[i]));
        added += changed;
        if (was_new) was_new[i] = changed;
    }
    return added;
}

/* Like contains_ahead, for adds; *added is how many were new. */
INLINED static inline size_t add_ahead(uint32_t lanes, bool is_far, uint8_t *blocks,
                                       uint64_t nblocks, const uint64_t *hashes, size_t n,
                                       uint8_t *was_new, uint64_t *added) {
    const size_t ahead = ring_of(is_far);
    uint64_t ring[FAR_RING];
    size_t i = 0;
    *added = 0;
    if (!UMBELI_HAVE_PREFETCH) return 0;
    fill_ring(is_far, blocks, nblocks, hashes, n, ring);
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        uint64_t *offsets = ring + i % ahead;
        *added += add_group(lanes, blocks, offsets, hashes + i, was_new ? was_new + i : NULL);
        if (i + ahead + AT_ONCE <= n) {
            fetch_ahead(is_far, blocks, nblocks, hashes + i + ahead, offsets);
        }
    }
    return i;
}

#ifdef KERNEL_KEYS
/* ---- Keys ----
 *
 * Hash AT_ONCE keys, look at the blocks of the keys hashed FAR_RING places before, prefetch the
 * blocks of the new ones: in this order, because hashing and looking wait for nothing, and
 * prefetching for the hash.  More keys at once would be read in bursts, faster than the hardware
 * fetches them.  The rings have room for both, so that nothing has to be moved: hashes that were
 * just stored in pieces cannot be loaded as a whole for a while. */

enum { RINGS = 2 * FAR_RING };

/* Hashing leaves time between the prefetches, so the first-level cache keeps up for longer. */
INLINED static inline bool is_far_for_keys(uint64_t nblocks) {
    return IS_FAR(nblocks / 3);
}

typedef struct key_rings {
    uint64_t hashes[RINGS], offsets[RINGS];
} key_rings;

INLINED static inline void hash_some(uint64_t seed, const umbel_key *keys, uint64_t *hashes) {
    for (size_t j = 0; j < AT_ONCE; j += 4) umbeli_xxh3_four(keys + j, seed, hashes + j);
}

INLINED static inline void fill_key_rings(bool is_far, const umbeli_blocked *b,
                                          const umbel_key *keys, key_rings *r) {
    for (size_t j = 0; j < FAR_RING; j += AT_ONCE) {
        hash_some(b->base.shape.seed, keys + j, r->hashes + j);
        fetch_ahead(is_far, b->base.data, b->nblocks, r->hashes + j, r->offsets + j);
    }
}

INLINED static inline uint64_t hash_and_fetch(const umbeli_blocked *b, uint64_t seed,
                                              const umbel_key *key) {
    uint64_t hash = HASH_ONE(key->data, key->len, seed);
    umbeli_fetch(b->base.data + offset_of(hash, b->nblocks), false);
    return hash;
}

/* What the loops need from a filter is copied: as far as the compiler knows, storing an answer
 * might change it. */
INLINED static inline void contains_few(uint32_t lanes, const umbeli_blocked *b,
                                        const umbel_key *keys, size_t n, uint8_t *hit) {
    const uint8_t *blocks = b->base.data;
    const uint64_t nblocks = b->nblocks, seed = b->base.shape.seed;
    const size_t first = n < RING ? n : RING;
    uint64_t ring[RING];
    for (size_t i = 0; i < first; i++) ring[i] = hash_and_fetch(b, seed, keys + i);
    for (size_t i = first; i < n; i++) {
        uint64_t *turn = ring + i % RING, hash = *turn;
        *turn = hash_and_fetch(b, seed, keys + i);
        hit[i - first] = has_one(lanes, blocks, nblocks, hash);
    }
    for (size_t i = n - first; i < n; i++) {
        hit[i] = has_one(lanes, blocks, nblocks, ring[i % RING]);
    }
}

INLINED static inline uint64_t add_few(uint32_t lanes, const umbeli_blocked *b,
                                       const umbel_key *keys, size_t n, uint8_t *was_new) {
    const size_t first = n < RING ? n : RING;
    const uint64_t seed = b->base.shape.seed;
    uint64_t ring[RING], added = 0;
    for (size_t i = 0; i < n + first; i++) {
        if (i >= first) {
            bool changed = put_alone(lanes, b, ring[(i - first) % RING]);
            added += changed;
            if (was_new) was_new[i - first] = changed;
        }
        if (i < n) ring[i % RING] = hash_and_fetch(b, seed, keys + i);
    }
    return added;
}

INLINED static inline void contains_of_keys(uint32_t lanes, const umbeli_blocked *b,
                                            const umbel_key *keys, size_t n, uint8_t *hit) {
    const uint8_t *blocks = b->base.data;
    const uint64_t nblocks = b->nblocks, seed = b->base.shape.seed;
    const bool is_far = is_far_for_keys(nblocks);
    key_rings r;
    size_t i = 0;
    if (UMBELI_HAVE_PREFETCH && n >= UMBELI_LONG_BATCH) {
        fill_key_rings(is_far, b, keys, &r);
        for (; n - i >= FAR_RING + AT_ONCE; i += AT_ONCE) {
            size_t now = i % RINGS, later = (i + FAR_RING) % RINGS;
            hash_some(seed, keys + i + FAR_RING, r.hashes + later);
            contains_group(lanes, blocks, r.offsets + now, r.hashes + now, hit + i);
            fetch_ahead(is_far, blocks, nblocks, r.hashes + later, r.offsets + later);
        }
        for (size_t end = i + FAR_RING; i < end; i += AT_ONCE) {
            contains_group(lanes, blocks, r.offsets + i % RINGS, r.hashes + i % RINGS, hit + i);
        }
    }
    contains_few(lanes, b, keys + i, n - i, hit + i);
}

INLINED static inline uint64_t add_of_keys(uint32_t lanes, const umbeli_blocked *b,
                                           const umbel_key *keys, size_t n, uint8_t *was_new) {
    uint8_t *blocks = b->base.data;
    const uint64_t nblocks = b->nblocks, seed = b->base.shape.seed;
    const bool is_far = is_far_for_keys(nblocks);
    key_rings r;
    uint64_t added = 0;
    size_t i = 0;
    if (UMBELI_HAVE_PREFETCH && n >= UMBELI_LONG_BATCH) {
        fill_key_rings(is_far, b, keys, &r);
        for (; n - i >= FAR_RING + AT_ONCE; i += AT_ONCE) {
            size_t now = i % RINGS, later = (i + FAR_RING) % RINGS;
            hash_some(seed, keys + i + FAR_RING, r.hashes + later);
            added += add_group(lanes, blocks, r.offsets + now, r.hashes + now,
                               was_new ? was_new + i : NULL);
            fetch_ahead(is_far, blocks, nblocks, r.hashes + later, r.offsets + later);
        }
        for (size_t end = i + FAR_RING; i < end; i += AT_ONCE) {
            added += add_group(lanes, blocks, r.offsets + i % RINGS, r.hashes + i % RINGS,
                               was_new ? was_new + i : NULL);
        }
    }
    return added + add_few(lanes, b, keys + i, n - i, was_new ? was_new + i : NULL);
}

#define KERNEL_KEY_LOOPS(prefix, lanes)                                               \
    KERNEL_TARGET static void prefix##_contains_keys_##lanes(                         \
        const umbeli_blocked *b, const umbel_key *keys, size_t n, uint8_t *hit) {     \
        contains_of_keys(lanes, b, keys, n, hit);                                     \
    }                                                                                 \
    KERNEL_TARGET static uint64_t prefix##_add_keys_##lanes(                          \
        const umbeli_blocked *b, const umbel_key *keys, size_t n, uint8_t *was_new) { \
        return add_of_keys(lanes, b, keys, n, was_new);                               \
    }
#define KERNEL_KEY_MEMBERS(prefix, lanes) \
    .contains_keys = prefix##_contains_keys_##lanes, .add_keys = prefix##_add_keys_##lanes,
#else
#define KERNEL_KEY_LOOPS(prefix, lanes)
#define KERNEL_KEY_MEMBERS(prefix, lanes)
#endif

/* The functions of one shape.  Looking a number up calls nothing, so it has no registers to save.
 * `prefix` is in every name, so that two kernels can be in one file,
 * as in the amalgamation. */
#define KERNEL_SHAPE(prefix, of_kind, lanes)                                                       \
    KERNEL_TARGET static bool prefix##_contains_hash_##lanes(const umbel_filter *f,                \
                                                             uint64_t hash) {                      \
        return has_one(lanes, f->data, umbeli_blocked_of(f)->nblocks, hash);                       \
    }                                                                                              \
    NOT_INLINED static bool prefix##_contains_other_##lanes(const umbel_filter *f,                 \
                                                            const void *key, size_t len) {         \
        const umbeli_blocked *b = umbeli_blocked_of(f);                                            \
        return has_one(lanes, f->data, b->nblocks, hash_one(b, key, len));                         \
    }                                                                                              \
    KERNEL_TARGET static bool prefix##_contains_##lanes(const umbel_filter *f, const void *key,    \
                                                        size_t len) {                              \
        const umbeli_blocked *b = umbeli_blocked_of(f);                                            \
        if (len != sizeof(uint64_t) || !HASHES_ITSELF(b)) {                                        \
            return prefix##_contains_other_##lanes(f, key, len);                                   \
        }                                                                                          \
        return has_one(lanes, f->data, b->nblocks, HASH_NUMBER(key, b->base.shape.seed));          \
    }                                                                                              \
    KERNEL_TARGET static umbel_err prefix##_add_##lanes(umbel_filter *f, const void *key,          \
                                                        size_t len, bool *was_new) {               \
        return add_one(lanes, f, key, len, was_new);                                               \
    }                                                                                              \
    NOT_INLINED static void prefix##_contains_plain_##lanes(                                       \
        const uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n, uint8_t *hit) { \
        contains_here(lanes, blocks, nblocks, hashes, n, hit);                                     \
    }                                                                                              \
    KERNEL_TARGET static void prefix##_contains_ring_##lanes(                                      \
        const uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n, uint8_t *hit) { \
        size_t i = IS_FAR(nblocks)                                                                 \
                       ? contains_ahead(lanes, true, blocks, nblocks, hashes, n, hit)              \
                       : contains_ahead(lanes, false, blocks, nblocks, hashes, n, hit);            \
        prefix##_contains_plain_##lanes(blocks, nblocks, hashes + i, n - i, hit + i);              \
    }                                                                                              \
    NOT_INLINED static uint64_t prefix##_add_plain_##lanes(                                        \
        uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n, uint8_t *was_new) {   \
        return add_here(lanes, blocks, nblocks, hashes, n, was_new);                               \
    }                                                                                              \
    KERNEL_TARGET static uint64_t prefix##_add_ring_##lanes(                                       \
        uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n, uint8_t *was_new) {   \
        uint64_t added;                                                                            \
        size_t i = IS_FAR(nblocks)                                                                 \
                       ? add_ahead(lanes, true, blocks, nblocks, hashes, n, was_new, &added)       \
                       : add_ahead(lanes, false, blocks, nblocks, hashes, n, was_new, &added);     \
        return added + prefix##_add_plain_##lanes(blocks, nblocks, hashes + i, n - i,              \
                                                  was_new ? was_new + i : NULL);                   \
    }                                                                                              \
    KERNEL_KEY_LOOPS(prefix, lanes)                                                                \
    static const umbeli_ops prefix##_ops_##lanes = {                                               \
        .size = sizeof(umbeli_blocked),                                                            \
        .kind = &of_kind,                                                                          \
        .kernel = KERNEL_NAME,                                                                     \
        .concurrent = true,                                                                        \
        .contains = prefix##_contains_##lanes,                                                     \
        .add = prefix##_add_##lanes,                                                               \
        .contains_many = umbeli_blocked_contains_many,                                             \
        .add_many = umbeli_blocked_add_many,                                                       \
        .hash_many = umbeli_blocked_hash_many,                                                     \
        .contains_hash = prefix##_contains_hash_##lanes,                                           \
        .contains_hashes = umbeli_blocked_contains_hashes,                                         \
        .add_hashes = umbeli_blocked_add_hashes,                                                   \
        .probes = umbeli_blocked_probes,                                                           \
        .merge = umbeli_shards_merge,                                                              \
        .copy = umbeli_shards_copy,                                                                \
        .dispose = umbeli_shards_dispose,                                                          \
        .relocate = umbeli_shards_relocate,                                                        \
        .intersect = umbeli_intersect_bits,                                                        \
        .fold = umbeli_blocked_fold,                                                               \
        .measure = umbeli_blocked_measure,                                                         \
        .keys_of_bits = umbeli_blocked_keys_of_bits,                                               \
        .rate_after = umbeli_blocked_rate_after,                                                   \
    };

#define KERNEL_MEMBERS(prefix, lanes)                                                             \
    {                                                                                             \
        .name = KERNEL_NAME, .needs = KERNEL_NEEDS, .ops = &prefix##_ops_##lanes,                 \
        .contains_plain = prefix##_contains_plain_##lanes,                                        \
        .contains_ring = prefix##_contains_ring_##lanes, .add_plain = prefix##_add_plain_##lanes, \
        .add_ring = prefix##_add_ring_##lanes, KERNEL_KEY_MEMBERS(prefix, lanes)                  \
    }

/* In two steps, so that KERNEL is replaced before it is pasted. */
#ifdef KERNEL_OF_LINES
#define KERNEL_SHAPES(prefix)                                  \
    KERNEL_SHAPE(prefix, umbeli_kind_line, 4)                  \
    KERNEL_SHAPE(prefix, umbeli_kind_line, 8)                  \
    KERNEL_SHAPE(prefix, umbeli_kind_line, 16)                 \
    const umbeli_blocked_kernel prefix[UMBELI_LINE_SHAPES] = { \
        KERNEL_MEMBERS(prefix, 4), KERNEL_MEMBERS(prefix, 8), KERNEL_MEMBERS(prefix, 16)};
#else
#define KERNEL_SHAPES(prefix)                    \
    KERNEL_SHAPE(prefix, umbeli_kind_blocked, 8) \
    const umbeli_blocked_kernel prefix = KERNEL_MEMBERS(prefix, 8);
#endif
#define KERNEL_SHAPES_OF(prefix) KERNEL_SHAPES(prefix)

KERNEL_SHAPES_OF(KERNEL)
