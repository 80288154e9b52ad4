/* SPDX-License-Identifier: MIT
 *
 * line_loops.h - the loops of a kernel over whole lines, included once by each kernel file
 *
 * The including file defines first
 *   KERNEL         the name of its umbeli_blocked_kernel[UMBELI_LINE_SHAPES]
 *   KERNEL_NAME    the same for people, KERNEL_NEEDS its umbeli_cpu bits
 *   KERNEL_TARGET  the function attribute that lets the compiler use the instructions
 *   KERNEL_CONCURRENT  whether any number of threads may add at once
 *   line_mask      a type, and line_mask mask_of(uint32_t lanes, uint32_t x): the bits of a key
 *   bool line_has(const uint8_t *line, line_mask m)
 *   bool line_put(uint8_t *line, line_mask m): true when a bit was new
 *   void store_line(uint64_t *to, const uint64_t *from): 64 bytes, `to` 64-byte aligned
 *   void store_fence(void): once after the last store_line
 *
 * Every function takes the number of lanes first.  It is a constant wherever one is used, and all
 * are inlined there, so each shape gets loops of its own.  Ring and groups are as in
 * blocked_loops.h.
 */
#include "core/bits.h"
#include "kind/kind.h"

enum { RING = 48, AT_ONCE = 8 };

#define INLINED __attribute__((always_inline))
#define NOT_INLINED __attribute__((noinline))

KERNEL_TARGET INLINED static inline uint64_t line_offset(uint64_t hash, uint64_t nblocks) {
    return UMBELI_LINE_BYTES * umbeli_block_of(hash, nblocks);
}

KERNEL_TARGET INLINED static inline bool has_hash(uint32_t lanes, const umbel_filter *f,
                                                  uint64_t hash) {
    const uint8_t *line = f->data + line_offset(hash, umbeli_blocked_of(f)->nblocks);
    return line_has(line, mask_of(lanes, (uint32_t)hash));
}

KERNEL_TARGET INLINED static inline umbel_err add_one(uint32_t lanes, umbel_filter *f,
                                                      const void *key, size_t len, bool *was_new) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    uint64_t hash = b->hasher->one(&f->shape, key, len);
    bool changed =
        line_put(f->data + line_offset(hash, b->nblocks), mask_of(lanes, (uint32_t)hash));
    if (changed) umbeli_count_added(f, 1);
    if (was_new) *was_new = changed;
    return UMBEL_OK;
}

KERNEL_TARGET INLINED static inline void look_up(uint32_t lanes, const uint8_t *lines,
                                                 uint64_t nblocks, const uint64_t *hashes, size_t n,
                                                 uint8_t *hit) {
    for (size_t i = 0; i < n; i++) {
        const uint8_t *line = lines + line_offset(hashes[i], nblocks);
        hit[i] = line_has(line, mask_of(lanes, (uint32_t)hashes[i]));
    }
}

/* The ring, as far as there are hashes to prefetch for; returns how many it did. */
KERNEL_TARGET INLINED static inline size_t look_up_ahead(uint32_t lanes, const uint8_t *lines,
                                                         uint64_t nblocks, const uint64_t *hashes,
                                                         size_t n, size_t ahead, uint8_t *hit) {
    size_t known = n + ahead, i = 0;
    for (; i < n && i + RING < known; i++) {
        __builtin_prefetch(lines + line_offset(hashes[i + RING], nblocks), 0, 3);
        const uint8_t *line = lines + line_offset(hashes[i], nblocks);
        hit[i] = line_has(line, mask_of(lanes, (uint32_t)hashes[i]));
    }
    return i;
}

KERNEL_TARGET INLINED static inline uint64_t put_group(uint32_t lanes, uint8_t *lines,
                                                       uint64_t nblocks, const uint64_t *hashes,
                                                       uint8_t *was_new) {
    line_mask masks[AT_ONCE];
    uint8_t *at[AT_ONCE], changed[AT_ONCE];
    uint64_t added = 0;
    for (size_t j = 0; j < AT_ONCE; j++) {
        masks[j] = mask_of(lanes, (uint32_t)hashes[j]);
        at[j] = lines + line_offset(hashes[j], nblocks);
    }
    for (size_t j = 0; j < AT_ONCE; j++) {
        changed[j] = line_put(at[j], masks[j]);
        added += changed[j];
    }
    if (was_new) memcpy(was_new, changed, sizeof changed);
    return added;
}

KERNEL_TARGET INLINED static inline uint64_t put(uint32_t lanes, uint8_t *lines, uint64_t nblocks,
                                                 const uint64_t *hashes, size_t n,
                                                 uint8_t *was_new) {
    uint64_t added = 0;
    size_t i = 0;
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        added += put_group(lanes, lines, nblocks, hashes + i, was_new ? was_new + i : NULL);
    }
    for (; i < n; i++) {
        uint8_t *line = lines + line_offset(hashes[i], nblocks);
        bool changed = line_put(line, mask_of(lanes, (uint32_t)hashes[i]));
        added += changed;
        if (was_new) was_new[i] = changed;
    }
    return added;
}

/* The ring, as look_up_ahead; *added is how many were new. */
KERNEL_TARGET INLINED static inline size_t put_ahead(uint32_t lanes, uint8_t *lines,
                                                     uint64_t nblocks, const uint64_t *hashes,
                                                     size_t n, size_t ahead, uint8_t *was_new,
                                                     uint64_t *added) {
    size_t known = n + ahead, i = 0;
    *added = 0;
    for (; i + AT_ONCE <= n && i + RING + AT_ONCE <= known; i += AT_ONCE) {
        for (size_t j = 0; j < AT_ONCE; j++) {
            __builtin_prefetch(lines + line_offset(hashes[i + RING + j], nblocks), 1, 3);
        }
        *added += put_group(lanes, lines, nblocks, hashes + i, was_new ? was_new + i : NULL);
    }
    return i;
}

KERNEL_TARGET static bool scatter(const umbeli_scatter *to, const uint64_t *hashes, size_t n) {
    umbeli_scatter s = *to; /* stays in registers across the stores below */
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

/* The functions of one shape.  `prefix` is in every name, so that two kernels can be in one file,
 * as in the amalgamation. */
#define LINE_SHAPE(prefix, lanes)                                                                 \
    KERNEL_TARGET static bool prefix##_contains_hash_##lanes(const umbel_filter *f,               \
                                                             uint64_t hash) {                     \
        return has_hash(lanes, f, hash);                                                          \
    }                                                                                             \
    KERNEL_TARGET static bool prefix##_contains_##lanes(const umbel_filter *f, const void *key,   \
                                                        size_t len) {                             \
        return has_hash(lanes, f, umbeli_blocked_of(f)->hasher->one(&f->shape, key, len));        \
    }                                                                                             \
    KERNEL_TARGET static umbel_err prefix##_add_##lanes(umbel_filter *f, const void *key,         \
                                                        size_t len, bool *was_new) {              \
        return add_one(lanes, f, key, len, was_new);                                              \
    }                                                                                             \
    KERNEL_TARGET NOT_INLINED static void prefix##_contains_plain_##lanes(                        \
        const uint8_t *lines, uint64_t nblocks, const uint64_t *hashes, size_t n, uint8_t *hit) { \
        look_up(lanes, lines, nblocks, hashes, n, hit);                                           \
    }                                                                                             \
    KERNEL_TARGET static void prefix##_contains_ring_##lanes(                                     \
        const uint8_t *lines, uint64_t nblocks, const uint64_t *hashes, size_t n, size_t ahead,   \
        uint8_t *hit) {                                                                           \
        size_t i = look_up_ahead(lanes, lines, nblocks, hashes, n, ahead, hit);                   \
        prefix##_contains_plain_##lanes(lines, nblocks, hashes + i, n - i, hit + i);              \
    }                                                                                             \
    KERNEL_TARGET NOT_INLINED static uint64_t prefix##_add_plain_##lanes(                         \
        uint8_t *lines, uint64_t nblocks, const uint64_t *hashes, size_t n, uint8_t *was_new) {   \
        return put(lanes, lines, nblocks, hashes, n, was_new);                                    \
    }                                                                                             \
    KERNEL_TARGET static uint64_t prefix##_add_ring_##lanes(uint8_t *lines, uint64_t nblocks,     \
                                                            const uint64_t *hashes, size_t n,     \
                                                            size_t ahead, uint8_t *was_new) {     \
        uint64_t added;                                                                           \
        size_t i = put_ahead(lanes, lines, nblocks, hashes, n, ahead, was_new, &added);           \
        return added + prefix##_add_plain_##lanes(lines, nblocks, hashes + i, n - i,              \
                                                  was_new ? was_new + i : NULL);                  \
    }                                                                                             \
    static const umbeli_ops prefix##_ops_##lanes = {                                              \
        .size = sizeof(umbeli_blocked),                                                           \
        .kind = &umbeli_kind_line,                                                                \
        .kernel = KERNEL_NAME,                                                                    \
        .concurrent = KERNEL_CONCURRENT,                                                          \
        .contains = prefix##_contains_##lanes,                                                    \
        .add = prefix##_add_##lanes,                                                              \
        .contains_many = umbeli_blocked_contains_many,                                            \
        .add_many = umbeli_blocked_add_many,                                                      \
        .hash_many = umbeli_blocked_hash_many,                                                    \
        .contains_hash = prefix##_contains_hash_##lanes,                                          \
        .contains_hashes = umbeli_blocked_contains_hashes,                                        \
        .add_hashes = umbeli_blocked_add_hashes,                                                  \
        .probes = umbeli_blocked_probes,                                                          \
        .merge = umbeli_merge_bits,                                                               \
        .intersect = umbeli_intersect_bits,                                                       \
        .fold = umbeli_blocked_fold,                                                              \
        .measure = umbeli_blocked_measure,                                                        \
        .keys_of_bits = umbeli_blocked_keys_of_bits,                                              \
        .rate_after = umbeli_blocked_rate_after,                                                  \
    };

#define LINE_MEMBERS(prefix, lanes)                                                               \
    {                                                                                             \
        .name = KERNEL_NAME, .needs = KERNEL_NEEDS, .ops = &prefix##_ops_##lanes,                 \
        .contains_plain = prefix##_contains_plain_##lanes,                                        \
        .contains_ring = prefix##_contains_ring_##lanes, .add_plain = prefix##_add_plain_##lanes, \
        .add_ring = prefix##_add_ring_##lanes, .scatter = scatter,                                \
    }

/* In two steps, so that KERNEL is replaced before it is pasted. */
#define LINE_KERNEL(prefix)                                    \
    LINE_SHAPE(prefix, 4)                                      \
    LINE_SHAPE(prefix, 8)                                      \
    LINE_SHAPE(prefix, 16)                                     \
    const umbeli_blocked_kernel prefix[UMBELI_LINE_SHAPES] = { \
        LINE_MEMBERS(prefix, 4), LINE_MEMBERS(prefix, 8), LINE_MEMBERS(prefix, 16)};
#define LINE_KERNEL_OF(prefix) LINE_KERNEL(prefix)

LINE_KERNEL_OF(KERNEL)
