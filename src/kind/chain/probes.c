/* SPDX-License-Identifier: MIT
 *
 * probes.c - layers of a chain: blocked, line and narrow, each through the loops of its kind
 */
#include "hash/foreign_hash.h"
#include "kind/blocked/line.h"
#include "kind/chain/chain.h"
#include "kind/classic/classic.h"
#include "plan/plan.h"

/* ---- Split-block, and whole lines ---- */

/* The next hashes for the kernel, and how many: those of a filter of kept bits go through `room`.
 */
enum { ROOM = 1024 };
static size_t next_hashes(const umbeli_layer *l, const uint64_t **hashes, size_t n,
                          uint64_t room[ROOM]) {
    if (!l->known_bits) return n;
    if (n > ROOM) n = ROOM;
    umbeli_packed_spread(l->known_bits, *hashes, n, room);
    *hashes = room;
    return n;
}

static void blocked_contains(const umbeli_layer *l, umbeli_hashes h, size_t n, uint8_t *found) {
    bool near = l->bytes <= UMBELI_PLAIN_BELOW || n == 1;
    uint64_t room[ROOM], nblocks = umbeli_layer_blocks(l);
    for (size_t from = 0, step; from < n; from += step) {
        const uint64_t *hashes = h.narrow + from;
        step = next_hashes(l, &hashes, n - from, room);
        (near ? l->kernel->contains_plain : l->kernel->contains_ring)(l->bits, nblocks, hashes,
                                                                      step, found + from);
    }
}

static uint64_t blocked_add(umbeli_layer *l, umbeli_hashes h, size_t n, uint8_t *was_new) {
    bool near = l->bytes <= UMBELI_PLAIN_BELOW || n == 1;
    uint64_t room[ROOM], added = 0, nblocks = umbeli_layer_blocks(l);
    for (size_t from = 0, step; from < n; from += step) {
        const uint64_t *hashes = h.narrow + from;
        step = next_hashes(l, &hashes, n - from, room);
        added += (near ? l->kernel->add_plain : l->kernel->add_ring)(l->bits, nblocks, hashes, step,
                                                                     was_new + from);
    }
    return added;
}

static uint64_t blocked_bit(const umbeli_layer *l, umbeli_hashes h, uint32_t i) {
    uint64_t hash = *h.narrow;
    if (l->known_bits) umbeli_packed_spread(l->known_bits, h.narrow, 1, &hash);
    uint64_t block = umbeli_block_of(hash, umbeli_layer_blocks(l));
    return 8 * UMBELI_BLOCK_BYTES * block + 32 * (uint64_t)i + umbeli_block_bit(hash, i);
}

static uint64_t line_bit(const umbeli_layer *l, umbeli_hashes h, uint32_t i) {
    uint64_t bit =
        512 * umbeli_block_of(*h.narrow, umbeli_layer_blocks(l)) + 512 / l->hashes * (uint64_t)i;
    return bit + umbeli_line_bit(*h.narrow, l->hashes, i);
}

umbeli_block_form umbeli_layer_form(const umbeli_layer *l) {
    return umbeli_block_form_of(&(umbeli_shape){.kind = l->probes->kind, .hashes = l->hashes});
}

/* Keys found because the bits that are known of their hashes are those of another. */
static double rate_of_collisions(const umbeli_layer *l, uint64_t keys) {
    return l->known_bits ? umbeli_packed_rate(keys, l->known_bits) : 0;
}

static double blocked_estimate(const umbeli_layer *l, uint64_t bits_set) {
    double hashes = umbeli_blocked_estimate(umbeli_layer_form(l), umbeli_layer_blocks(l), bits_set);
    return l->known_bits ? umbeli_packed_keys(hashes, l->known_bits) : hashes;
}

static double blocked_live_rate(const umbeli_layer *l, uint64_t bits_set) {
    uint64_t nblocks = umbeli_layer_blocks(l);
    double rate = umbeli_blocked_live_rate(umbeli_layer_form(l), l->bits, nblocks);
    rate = umbeli_blocked_with_collisions(umbeli_layer_form(l), rate, nblocks, bits_set);
    return umbeli_rate_of_union(rate, rate_of_collisions(l, l->keys));
}

static void blocked_prepare(umbeli_layer *l) {
    l->kernel = umbeli_blocked_best();
}

static void line_prepare(umbeli_layer *l) {
    l->kernel = umbeli_line_best(l->hashes);
}

static double blocked_rate(const umbeli_layer *l, uint64_t keys) {
    return umbeli_rate_of_union(umbeli_blocked_rate(umbeli_layer_blocks(l), keys),
                                rate_of_collisions(l, keys));
}

static double line_rate(const umbeli_layer *l, uint64_t keys) {
    return umbeli_line_rate(umbeli_layer_blocks(l), l->hashes, keys);
}

const umbeli_probes umbeli_probes_blocked = {
    .kind = UMBEL_KIND_BLOCKED,
    .scheme = UMBELI_SCHEME_BLOCKED,
    .log2_bytes = 5,
    .prepare = blocked_prepare,
    .rate_after = blocked_rate,
    .contains = blocked_contains,
    .add = blocked_add,
    .bit = blocked_bit,
    .estimate = blocked_estimate,
    .live_rate = blocked_live_rate,
};

const umbeli_probes umbeli_probes_line = {
    .kind = UMBEL_KIND_LINE,
    .scheme = UMBELI_SCHEME_BLOCKED,
    .log2_bytes = 6,
    .prepare = line_prepare,
    .rate_after = line_rate,
    .contains = blocked_contains,
    .add = blocked_add,
    .bit = line_bit,
    .estimate = blocked_estimate,
    .live_rate = blocked_live_rate,
};

/* ---- Narrow: the classic scheme from 64 bits of hash ---- */

static umbeli_classic_bits bits_of(const umbeli_layer *l) {
    return (umbeli_classic_bits){.data = l->bits, .bits = l->nbits, .hashes = l->hashes};
}

enum { GROUP = 64 };

/* Two of n keys have the same 64 bits with a chance of n^2 / 2^65; positions need a start and a
 * step. */
static umbeli_hash128 widened(uint64_t narrow) {
    return (umbeli_hash128){.low = narrow, .high = umbeli_fmix64(narrow)};
}

static void narrow_contains(const umbeli_layer *l, umbeli_hashes h, size_t n, uint8_t *found) {
    umbeli_hash128 wide[GROUP];
    for (size_t from = 0; from < n; from += GROUP) {
        size_t group = n - from < GROUP ? n - from : GROUP;
        for (size_t i = 0; i < group; i++) wide[i] = widened(h.narrow[from + i]);
        umbeli_classic_contains_hashed(bits_of(l), wide, group, found + from);
    }
}

static uint64_t narrow_add(umbeli_layer *l, umbeli_hashes h, size_t n, uint8_t *was_new) {
    umbeli_hash128 wide[GROUP];
    uint64_t added = 0;
    for (size_t from = 0; from < n; from += GROUP) {
        size_t group = n - from < GROUP ? n - from : GROUP;
        for (size_t i = 0; i < group; i++) wide[i] = widened(h.narrow[from + i]);
        added += umbeli_classic_add_hashed(bits_of(l), wide, group, was_new + from);
    }
    return added;
}

static double narrow_estimate(const umbeli_layer *l, uint64_t bits_set) {
    return umbeli_classic_estimate(l->nbits, l->hashes, bits_set);
}

static double narrow_live_rate(const umbeli_layer *l, uint64_t bits_set) {
    return umbeli_classic_live_rate(l->nbits, l->hashes, bits_set);
}

static double narrow_rate(const umbeli_layer *l, uint64_t keys) {
    return umbeli_classic_rate(l->nbits, l->hashes, keys);
}

static uint64_t narrow_bit(const umbeli_layer *l, umbeli_hashes h, uint32_t i) {
    return umbeli_classic_bit(l->nbits, widened(*h.narrow), i);
}

const umbeli_probes umbeli_probes_narrow = {
    .kind = UMBEL_KIND_CLASSIC,
    .rate_after = narrow_rate,
    .contains = narrow_contains,
    .add = narrow_add,
    .bit = narrow_bit,
    .estimate = narrow_estimate,
    .live_rate = narrow_live_rate,
};

const umbeli_probes *umbeli_native_probes(umbel_kind kind) {
    return kind == UMBEL_KIND_BLOCKED ? &umbeli_probes_blocked
           : kind == UMBEL_KIND_LINE  ? &umbeli_probes_line
                                      : NULL;
}
