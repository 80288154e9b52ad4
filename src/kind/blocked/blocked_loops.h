/* SPDX-License-Identifier: MIT
 *
 * blocked_loops.h - the loops of a kernel, included once by each kernel file
 *
 * The including file defines first
 *   KERNEL         the name of its umbeli_blocked_kernel
 *   KERNEL_NAME    the same for people, KERNEL_NEEDS its umbeli_cpu bits
 *   KERNEL_TARGET  the function attribute that lets the compiler use the instructions
 *   KERNEL_CONCURRENT  whether any number of threads may add at once
 *   block_mask     a type, and block_mask mask_of(uint32_t x): the eight bits of a key
 *   bool block_has(const uint8_t *block, block_mask m)
 *   bool block_put(uint8_t *block, block_mask m): true when a bit was new
 *   void offsets_of(const uint64_t *hashes, uint64_t nblocks, uint64_t *offsets): where the blocks
 *                  of UMBELI_OFFSETS hashes begin
 *   void store_line(uint64_t *to, const uint64_t *from): 64 bytes, `to` 64-byte aligned
 *   void store_fence(void): once after the last store_line
 */
#include "core/bits.h"
#include "kind/kind.h"

/* Far enough ahead that a line has arrived from memory when it is needed, near enough that it is
 * still in the first-level cache.  The ring holds offsets, so that each is computed once. */
enum { RING = 32, AT_ONCE = UMBELI_OFFSETS };

KERNEL_TARGET static bool contains_hash(const umbel_filter *f, uint64_t hash) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    const uint8_t *block = f->data + UMBELI_BLOCK_BYTES * umbeli_block_of(hash, b->nblocks);
    return block_has(block, mask_of((uint32_t)hash));
}

KERNEL_TARGET static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return contains_hash(f, umbeli_blocked_of(f)->hasher->one(&f->shape, key, len));
}

KERNEL_TARGET static umbel_err add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    uint64_t hash = b->hasher->one(&f->shape, key, len);
    uint8_t *block = f->data + UMBELI_BLOCK_BYTES * umbeli_block_of(hash, b->nblocks);
    bool changed = block_put(block, mask_of((uint32_t)hash));
    if (changed) umbeli_count_added(f, 1);
    if (was_new) *was_new = changed;
    return UMBEL_OK;
}

KERNEL_TARGET static inline void contains_group(const uint8_t *blocks, const uint64_t *offsets,
                                                const uint64_t *hashes, uint8_t *hit) {
    for (size_t j = 0; j < AT_ONCE; j++) {
        hit[j] = block_has(blocks + offsets[j], mask_of((uint32_t)hashes[j]));
    }
}

KERNEL_TARGET static void contains_plain(const uint8_t *blocks, uint64_t nblocks,
                                         const uint64_t *hashes, size_t n, uint8_t *hit) {
    size_t i = 0;
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        uint64_t offsets[AT_ONCE];
        offsets_of(hashes + i, nblocks, offsets);
        contains_group(blocks, offsets, hashes + i, hit + i);
    }
    for (; i < n; i++) {
        const uint8_t *block = blocks + UMBELI_BLOCK_BYTES * umbeli_block_of(hashes[i], nblocks);
        hit[i] = block_has(block, mask_of((uint32_t)hashes[i]));
    }
}

/* For adds too: a line that only this core has is written without asking the others. */
KERNEL_TARGET static inline void fetch_ahead(const uint8_t *blocks, uint64_t nblocks,
                                             const uint64_t *hashes, uint64_t *offsets) {
    offsets_of(hashes, nblocks, offsets);
    for (size_t j = 0; j < AT_ONCE; j++) __builtin_prefetch(blocks + offsets[j], 0, 3);
}

/* A lookup, a prefetch, a lookup ...: prefetches in a row would wait for each other. */
KERNEL_TARGET static inline void contains_fetching(const uint8_t *blocks, uint64_t *offsets,
                                                   const uint64_t *next, const uint64_t *hashes,
                                                   uint8_t *hit) {
    for (size_t j = 0; j < AT_ONCE; j++) {
        hit[j] = block_has(blocks + offsets[j], mask_of((uint32_t)hashes[j]));
        __builtin_prefetch(blocks + next[j], 0, 3);
        offsets[j] = next[j];
    }
}

KERNEL_TARGET static void contains_ring(const uint8_t *blocks, uint64_t nblocks,
                                        const uint64_t *hashes, size_t n, size_t ahead,
                                        uint8_t *hit) {
    uint64_t ring[RING], next[AT_ONCE];
    size_t known = n + ahead, i = 0;
    for (size_t j = 0; j < RING && j + AT_ONCE <= known; j += AT_ONCE) {
        fetch_ahead(blocks, nblocks, hashes + j, ring + j);
    }
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        uint64_t *offsets = ring + i % RING;
        if (i + RING + AT_ONCE <= known) {
            offsets_of(hashes + i + RING, nblocks, next);
            contains_fetching(blocks, offsets, next, hashes + i, hit + i);
        } else {
            contains_group(blocks, offsets, hashes + i, hit + i);
        }
    }
    contains_plain(blocks, nblocks, hashes + i, n - i, hit + i);
}

/* All masks before the first is ORed in: the multiplications overlap and no load waits for the
 * store before it. */
KERNEL_TARGET static inline uint64_t add_group(uint8_t *blocks, const uint64_t *offsets,
                                               const uint64_t *hashes, uint8_t *was_new) {
    block_mask masks[AT_ONCE];
    uint64_t added = 0;
    for (size_t j = 0; j < AT_ONCE; j++) masks[j] = mask_of((uint32_t)hashes[j]);
    for (size_t j = 0; j < AT_ONCE; j++) {
        bool changed = block_put(blocks + offsets[j], masks[j]);
        added += changed;
        if (was_new) was_new[j] = changed;
    }
    return added;
}

KERNEL_TARGET static uint64_t add_plain(uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes,
                                        size_t n, uint8_t *was_new) {
    uint64_t added = 0;
    size_t i = 0;
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        uint64_t offsets[AT_ONCE];
        offsets_of(hashes + i, nblocks, offsets);
        added += add_group(blocks, offsets, hashes + i, was_new ? was_new + i : NULL);
    }
    for (; i < n; i++) {
        uint8_t *block = blocks + UMBELI_BLOCK_BYTES * umbeli_block_of(hashes[i], nblocks);
        bool changed = block_put(block, mask_of((uint32_t)hashes[i]));
        added += changed;
        if (was_new) was_new[i] = changed;
    }
    return added;
}

KERNEL_TARGET static uint64_t add_ring(uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes,
                                       size_t n, size_t ahead, uint8_t *was_new) {
    uint64_t ring[RING], added = 0;
    size_t known = n + ahead, i = 0;
    for (size_t j = 0; j < RING && j + AT_ONCE <= known; j += AT_ONCE) {
        fetch_ahead(blocks, nblocks, hashes + j, ring + j);
    }
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        uint64_t *offsets = ring + i % RING;
        added += add_group(blocks, offsets, hashes + i, was_new ? was_new + i : NULL);
        if (i + RING + AT_ONCE <= known) {
            fetch_ahead(blocks, nblocks, hashes + i + RING, offsets);
        }
    }
    return added + add_plain(blocks, nblocks, hashes + i, n - i, was_new ? was_new + i : NULL);
}

KERNEL_TARGET static bool scatter(const umbeli_scatter *to, const uint64_t *hashes, size_t n) {
    umbeli_scatter s =
        *to; /* a local copy, so that it stays in registers across the stores below */
    for (size_t i = 0; i < n; i++) {
        uint64_t part = umbeli_block_of(hashes[i], s.nblocks) >> s.shift;
        uint64_t at = s.next[part]++, *line = s.lines + 8 * part;
        line[at & 7] = hashes[i];
        if (s.part_of) s.part_of[i] = (uint8_t)part;
        if ((at & 7) < 7) continue;
        if (at >= s.limit[part]) return false;
        store_line(s.sorted + at - 7, line);
    }
    store_fence();
    return true;
}

static const umbeli_ops ops = {
    .size = sizeof(umbeli_blocked),
    .kind = &umbeli_kind_blocked,
    .kernel = KERNEL_NAME,
    .concurrent = KERNEL_CONCURRENT,
    .contains = contains,
    .add = add,
    .contains_many = umbeli_blocked_contains_many,
    .add_many = umbeli_blocked_add_many,
    .hash_many = umbeli_blocked_hash_many,
    .contains_hash = contains_hash,
    .contains_hashes = umbeli_blocked_contains_hashes,
    .add_hashes = umbeli_blocked_add_hashes,
    .probes = umbeli_blocked_probes,
    .merge = umbeli_merge_bits,
    .intersect = umbeli_intersect_bits,
    .fold = umbeli_blocked_fold,
    .measure = umbeli_blocked_measure,
    .keys_of_bits = umbeli_blocked_keys_of_bits,
    .rate_after = umbeli_blocked_rate_after,
};

const umbeli_blocked_kernel KERNEL = {
    .name = KERNEL_NAME,
    .needs = KERNEL_NEEDS,
    .ops = &ops,
    .contains_plain = contains_plain,
    .contains_ring = contains_ring,
    .add_plain = add_plain,
    .add_ring = add_ring,
    .scatter = scatter,
};
