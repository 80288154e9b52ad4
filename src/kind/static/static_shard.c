/* SPDX-License-Identifier: MIT
 *
 * static_shard.c - one binary fuse table
 *
 * The XOR of each key's slots must be its fingerprint.  A slot that only one key uses can be set
 * for that key whatever the others become, so the key is peeled off, to be solved after the others,
 * and removed from its other slots; that leaves more slots with only one key.  If all keys can be
 * peeled like this, they are solved in reverse order, each with its own slot still free.  If not,
 * another seed moves the slots.
 */
#include "kind/static/static.h"

/* Counts are stored times four; the two bits below say which of its key's slots it is. */
enum { ONE = 4, WHICH = 3 };

enum { STRETCH = 256 };

/* In one piece, so that it gets huge pages. */
umbel_err umbeli_static_scratch_new(const umbeli_static_layout *layout, uint64_t keys,
                                    const umbeli_settings *settings, umbeli_static_scratch *out) {
    uint64_t slots = umbeli_static_slots(layout), n = keys + 1;
    uint64_t len = (slots + n) * (sizeof *out->sums + sizeof *out->counts);
    *out = (umbeli_static_scratch){0};
    len += (slots + 1) * sizeof *out->queue;
    if (!umbeli_scratch_new(settings, len, &out->memory)) return UMBEL_ENOMEM;
    out->sums = (uint64_t *)(void *)out->memory.data;
    out->order = out->sums + slots;
    out->queue = (uint32_t *)(void *)(out->order + n);
    out->counts = (uint8_t *)(out->queue + slots + 1);
    out->which = out->counts + slots;
    return UMBEL_OK;
}

void umbeli_static_scratch_delete(const umbeli_settings *settings, umbeli_static_scratch *scratch) {
    umbeli_array_delete(settings, &scratch->memory);
    *scratch = (umbeli_static_scratch){0};
}

/* All three passes go through the table in one direction, a few segments at a time, but within a
 * segment at random, which the processor does not foresee.  So every key fetches what lies one
 * segment further on than its own slot; beyond the ends that is nothing. */
static inline void fetch(const void *array, size_t width, uint64_t slot) {
    __builtin_prefetch((const void *)((uintptr_t)array + (uintptr_t)(width * slot)), 1);
}

/* Enters all keys into their slots; false when a slot's count would overflow. */
static inline bool fill(const umbeli_static_layout *l, uint32_t arity,
                        const umbeli_static_scratch *b, const uint64_t *hashes, size_t n,
                        uint8_t seed) {
    size_t slots = (size_t)umbeli_static_slots(l);
    uint64_t *restrict sums = b->sums;
    uint8_t *restrict counts = b->counts;
    umbeli_static_grid grid = umbeli_static_grid_of(l);
    unsigned seen = 0;
    memset(sums, 0, slots * sizeof *sums);
    memset(counts, 0, slots);
    for (size_t i = 0; i < n; i++) {
        umbeli_static_place p = umbeli_static_place_of(&grid, arity, hashes[i], seed);
        fetch(sums, sizeof *sums, p.slot[arity - 1] + grid.step);
        for (uint32_t j = 0; j < arity; j++) {
            unsigned count = (counts[p.slot[j]] + (unsigned)ONE) ^ j;
            seen |= count;
            counts[p.slot[j]] = (uint8_t)count;
            sums[p.slot[j]] ^= hashes[i];
        }
    }
    return seen <= UINT8_MAX;
}

/* Number of keys peeled.  Slots wait in a queue, not on a stack: neighbours in it are independent
 * of each other, so the processor works on several in parallel.  It is filled from a few slots at a
 * time, to stay in one part of the table, and never holds more entries than there are slots, plus
 * one scratch entry: a count falls to one only once. */
static inline size_t peel(const umbeli_static_layout *l, uint32_t arity,
                          const umbeli_static_scratch *b, uint8_t seed) {
    size_t slots = (size_t)umbeli_static_slots(l), taken = 0, head = 0, tail = 0;
    uint64_t *restrict sums = b->sums, *restrict order = b->order;
    uint8_t *restrict counts = b->counts, *restrict which = b->which;
    uint32_t *restrict queue = b->queue;
    umbeli_static_grid grid = umbeli_static_grid_of(l);
    for (size_t start = 0; start < slots; start++) {
        queue[tail] = (uint32_t)start;
        tail += counts[start] >> 2 == 1;
        if ((start + 1) % STRETCH != 0 && start + 1 < slots) continue;
        while (head < tail) {
            uint32_t slot = queue[head++];
            if (counts[slot] >> 2 != 1) continue; /* its key was peeled through another slot */
            uint64_t hash = sums[slot];
            order[taken] = hash;
            which[taken++] = counts[slot] & WHICH;
            umbeli_static_place p = umbeli_static_place_of(&grid, arity, hash, seed);
            fetch(sums, sizeof *sums, p.slot[arity - 1] + grid.step);
            fetch(counts, sizeof *counts, p.slot[arity - 1] + grid.step);
            for (uint32_t j = 0; j < arity; j++) {
                uint32_t other = p.slot[j];
                uint8_t count = (uint8_t)((counts[other] - ONE) ^ (int)j);
                sums[other] ^= hash;
                counts[other] = count;
                queue[tail] = other;
                tail += count >> 2 == 1;
            }
        }
    }
    return taken;
}

/* Sets every key's own slot, given the others.  It is still 0 itself; unused slots stay 0. */
static inline void solve(const umbeli_static_layout *l, uint32_t arity,
                         const umbeli_static_scratch *b, size_t n, uint8_t seed) {
    uint64_t *restrict sums = b->sums;
    umbeli_static_grid grid = umbeli_static_grid_of(l);
    for (size_t i = n; i-- > 0;) {
        umbeli_static_place p = umbeli_static_place_of(&grid, arity, b->order[i], seed);
        fetch(sums, sizeof *sums, p.slot[0] - grid.step);
        uint64_t value = p.print;
        for (uint32_t j = 0; j < arity; j++) value ^= sums[p.slot[j]];
        sums[p.slot[b->which[i]]] = value;
    }
}

static void pack(const uint64_t *values, size_t slots, uint32_t width, uint8_t *table) {
    uint64_t bits = 0, mask = (UINT64_C(1) << width) - 1;
    unsigned filled = 0; /* below 32 before each slot, so that another one fits */
    for (size_t i = 0; i < slots; i++) {
        bits |= (values[i] & mask) << filled;
        filled += width;
        if (filled < 32) continue;
        umbeli_store_le32(table, (uint32_t)bits);
        table += 4;
        bits >>= 32;
        filled -= 32;
    }
    for (unsigned done = 0; done < filled; done += 8) *table++ = (uint8_t)(bits >> done);
}

/* Tries one seed; leaves the fingerprints in b->sums. */
static inline bool try_seed(const umbeli_static_layout *l, uint32_t arity, umbeli_static_scratch *b,
                            const uint64_t *hashes, size_t n, uint8_t seed) {
    if (!fill(l, arity, b, hashes, n, seed) || peel(l, arity, b, seed) < n) return false;
    /* Every key was removed from its slots, so all sums are 0 again and can take the
     * fingerprints. */
    solve(l, arity, b, n, seed);
    return true;
}

uint8_t umbeli_static_build_shard(const umbeli_static_layout *layout,
                                  umbeli_static_scratch *scratch, const uint64_t *hashes, size_t n,
                                  uint32_t width, uint8_t *table) {
    /* Of many keys with four slots each, one seed in fifty fails by chance.  If six in a row do,
     * the keys were chosen to: with the same first slots, which no seed moves. */
    enum { MANY = 8192, ENOUGH = 6 };
    unsigned last = layout->arity > 3 && n > MANY ? ENOUGH : UINT8_MAX;
    for (unsigned i = UMBELI_STATIC_FIRST_SEED; i <= last; i++) {
        uint8_t seed = (uint8_t)i;
        bool fits = layout->arity == 3 ? try_seed(layout, 3, scratch, hashes, n, seed)
                                       : try_seed(layout, 4, scratch, hashes, n, seed);
        if (!fits) continue;
        pack(scratch->sums, (size_t)umbeli_static_slots(layout), width, table);
        return seed;
    }
    return 0;
}
