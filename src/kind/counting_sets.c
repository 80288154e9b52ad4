/* SPDX-License-Identifier: MIT
 *
 * counting_sets.c - whole counting filters, two counters a byte
 *
 * A counter is at least the number of keys that count there (or 15).  Sums that stop at 15 keep
 * that for the union, the smaller one of two for the intersection: whoever is in both counts in
 * both.
 */
#include "core/bits.h"
#include "kind/blocked.h"
#include "kind/counting.h"

enum { LANE_BYTES = UMBELI_COUNTING_BLOCK / UMBELI_BLOCK_LANES };

static unsigned sum(unsigned a, unsigned b) {
    return a + b < UMBELI_COUNTING_MOST ? a + b : UMBELI_COUNTING_MOST;
}

static unsigned smaller(unsigned a, unsigned b) {
    return a < b ? a : b;
}

umbel_err umbeli_counting_unite(umbel_filter *into, const umbel_filter *from, umbel_diag *diag) {
    (void)diag;
    for (uint64_t i = 0; i < into->data_len; i++) {
        unsigned a = into->data[i], b = from->data[i];
        into->data[i] = (uint8_t)(sum(a & 15, b & 15) | sum(a >> 4, b >> 4) << 4);
    }
    umbeli_count_added(into, umbeli_keys_added(from));
    return UMBEL_OK;
}

umbel_err umbeli_counting_intersect(umbel_filter *into, const umbel_filter *with,
                                    umbel_diag *diag) {
    (void)diag;
    for (uint64_t i = 0; i < into->data_len; i++) {
        unsigned a = into->data[i], b = with->data[i];
        into->data[i] = (uint8_t)(smaller(a & 15, b & 15) | smaller(a >> 4, b >> 4) << 4);
    }
    uint64_t mine = umbeli_keys_added(into), theirs = umbeli_keys_added(with);
    atomic_store_explicit(&into->keys_added, mine < theirs ? mine : theirs, memory_order_relaxed);
    return UMBEL_OK;
}

/* The bits of a lane: one for each counter that is not 0. */
static uint32_t lane_bits(const uint8_t *lane) {
    uint32_t bits = 0;
    for (unsigned i = 0; i < LANE_BYTES; i++) {
        bits |= (uint32_t)((lane[i] & 15) != 0) << (2 * i);
        bits |= (uint32_t)(lane[i] >> 4 != 0) << (2 * i + 1);
    }
    return bits;
}

bool umbeli_counting_subset(const umbel_filter *part, const umbel_filter *whole) {
    for (uint64_t i = 0; i < part->data_len; i += LANE_BYTES) {
        if (lane_bits(part->data + i) & ~lane_bits(whole->data + i)) return false;
    }
    return true;
}

umbel_err umbeli_counting_snapshot(const umbel_filter *f, umbel_filter **out, umbel_diag *diag) {
    umbeli_shape shape = f->shape;
    shape.bits /= 4;
    umbel_filter *bits = NULL;
    umbel_err e =
        umbeli_blocked_new(&umbeli_blocked_native, shape, NULL, false, &f->memory, &bits, diag);
    if (e) return e;
    for (uint64_t i = 0; i < f->data_len / LANE_BYTES; i++) {
        umbeli_store_le32(bits->data + 4 * i, lane_bits(f->data + LANE_BYTES * i));
    }
    bits->treatment = f->treatment;
    atomic_store_explicit(&bits->keys_added, umbeli_keys_added(f), memory_order_relaxed);
    e = umbeli_meta_copy(bits, f);
    if (e) {
        umbeli_filter_free(bits);
        return e;
    }
    *out = bits;
    return UMBEL_OK;
}

/* As umbeli_blocked_measure of the snapshot, without making it. */
void umbeli_counting_measure(const umbel_filter *f, umbel_info *info) {
    uint64_t nblocks = umbeli_counting_of(f)->nblocks;
    double rate = 0;
    info->bits_set = 0;
    for (uint64_t i = 0; i < nblocks; i++) {
        const uint8_t *block = f->data + UMBELI_COUNTING_BLOCK * i;
        uint64_t product = 1; /* at most 32^8 = 2^40 */
        for (int lane = 0; lane < UMBELI_BLOCK_LANES; lane++) {
            int set = __builtin_popcount(lane_bits(block + LANE_BYTES * lane));
            product *= (uint64_t)set;
            info->bits_set += (uint64_t)set;
        }
        rate += (double)product;
    }
    info->fpr_now = rate / (double)(UINT64_C(1) << 40) / (double)nblocks;
    info->keys_estimated = umbeli_blocked_estimate(nblocks, info->bits_set);
}
