/* SPDX-License-Identifier: MIT
 *
 * counting.c - a 4-bit counter for every bit of a blocked filter, so that keys can be removed
 *
 * Block, lanes and salts are those of the blocked kind; lane i of a block takes bytes 16 i to 16 i
 * + 15, the counter of its bit b the lower (b even) or upper half of byte b / 2.  A block has 128
 * bytes, two cache lines.  A counter is nonzero exactly where the blocked filter of the same keys
 * has its bit set.
 *
 * Counters stick at 15: once there, a counter is never decremented, because its true value is no
 * longer known.  So a key that was not removed is never missed.
 */
#include "kind/blocked/counting.h"

#include "core/bits.h"
#include "core/cpu.h"
#include "core/diag.h"
#include "hash/native_hash.h"
#include "kind/key_count.h"
#include "kind/kind.h"

enum {
    SCHEME_COUNTING = 1,
    COUNTER_MAX = UMBELI_COUNTER_MAX,
    BLOCK_BYTES = UMBELI_COUNTING_BLOCK,
    LANE_BYTES = UMBELI_COUNTING_LANE,
    BLOCK_BITS = 8 * BLOCK_BYTES,
    LINE = 64,
    AHEAD = 24, /* keys; each fetches two lines */
};

typedef struct counting {
    umbel_filter base;
    uint64_t nblocks; /* data_len / BLOCK_BYTES, below 2^32 */
    const umbeli_counting_kernel *kernel;
} counting;

static const counting *counting_of(const umbel_filter *f) {
    return (const counting *)f;
}

static uint64_t nblocks_of(const umbel_filter *f) {
    return counting_of(f)->nblocks;
}

static uint8_t *block_of(const umbel_filter *f, uint64_t hash) {
    return f->data + BLOCK_BYTES * umbeli_block_of(hash, nblocks_of(f));
}

/* ---- the generic kernel -------------------------------------------------------------------- */

/* Where the counter of one lane is: a byte of the block, and a shift within it. */
typedef struct counter {
    unsigned byte, shift;
} counter;

static counter counter_of(uint32_t x, size_t lane) {
    uint32_t bit = umbeli_block_bit(x, lane);
    return (counter){.byte = (unsigned)(LANE_BYTES * lane + bit / 2), .shift = 4 * (bit % 2)};
}

static unsigned value(const uint8_t *block, counter c) {
    return (block[c.byte] >> c.shift) & COUNTER_MAX;
}

static unsigned smallest(const uint8_t *block, uint32_t x) {
    unsigned low = COUNTER_MAX;
    for (size_t i = 0; i < UMBELI_BLOCK_LANES; i++) {
        unsigned v = value(block, counter_of(x, i));
        low = v < low ? v : low;
    }
    return low;
}

static bool has(const uint8_t *block, uint32_t x) {
    return smallest(block, x) > 0;
}

/* Adds 1 or -1 to the counters that do not stick. */
static bool change(uint8_t *block, uint32_t x, int by) {
    bool changed = false;
    for (size_t i = 0; i < UMBELI_BLOCK_LANES; i++) {
        counter c = counter_of(x, i);
        if (value(block, c) == COUNTER_MAX) continue;
        block[c.byte] = (uint8_t)(block[c.byte] + by * (1 << c.shift));
        changed = true;
    }
    return changed;
}

static umbeli_counted put(uint8_t *block, uint32_t x) {
    bool had_zero = !has(block, x);
    return (umbeli_counted){.changed = change(block, x, 1), .had_zero = had_zero};
}

static umbeli_counted take(uint8_t *block, uint32_t x) {
    if (!has(block, x)) return (umbeli_counted){.had_zero = true};
    return (umbeli_counted){.changed = change(block, x, -1)};
}

const umbeli_counting_kernel umbeli_counting_generic = {"generic", has, put, take};

static const umbeli_counting_kernel *best(void) {
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) return &umbeli_counting_avx2;
#endif
    return &umbeli_counting_generic;
}

/* ---- keys ---------------------------------------------------------------------------------- */

static bool contains_hash(const umbel_filter *f, uint64_t hash) {
    return counting_of(f)->kernel->has(block_of(f, hash), (uint32_t)hash);
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return contains_hash(f, umbeli_native_hash(&f->shape, key, len));
}

static uint32_t count(const umbel_filter *f, const void *key, size_t len) {
    uint64_t hash = umbeli_native_hash(&f->shape, key, len);
    return smallest(block_of(f, hash), (uint32_t)hash);
}

static size_t probes(const umbel_filter *f, umbel_key key, uint64_t hash, uint64_t *bits,
                     size_t cap) {
    (void)key;
    uint64_t block = (uint64_t)(block_of(f, hash) - f->data);
    for (size_t i = 0; i < UMBELI_BLOCK_LANES && i < cap; i++) {
        counter c = counter_of((uint32_t)hash, i);
        bits[i] = 8 * (block + c.byte) + c.shift;
    }
    return UMBELI_BLOCK_LANES;
}

static umbel_err add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    uint64_t hash = umbeli_native_hash(&f->shape, key, len);
    umbeli_counted o = counting_of(f)->kernel->put(block_of(f, hash), (uint32_t)hash);
    if (o.changed) umbeli_count_added(f, 1);
    if (was_new) *was_new = o.had_zero;
    return UMBEL_OK;
}

static umbel_err remove_key(umbel_filter *f, const void *key, size_t len) {
    uint64_t hash = umbeli_native_hash(&f->shape, key, len);
    umbeli_counted o = counting_of(f)->kernel->take(block_of(f, hash), (uint32_t)hash);
    if (o.had_zero) return UMBEL_EABSENT;
    /* False positives may have been removed, more often than keys were added. */
    uint64_t added = umbeli_keys_added(f);
    if (o.changed && added > 0) {
        umbeli_set_keys_added(f, added - 1);
    }
    return UMBEL_OK;
}

static void fetch(const umbel_filter *f, uint64_t hash) {
    const uint8_t *at = block_of(f, hash);
    bool is_far = umbeli_is_far(f->data_len);
    umbeli_fetch(at, is_far);
    umbeli_fetch(at + LINE, is_far);
}

static void contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    for (size_t i = 0; i < n && i < AHEAD; i++) fetch(f, hashes[i]);
    for (size_t i = 0; i < n; i++) {
        if (n - i > AHEAD) fetch(f, hashes[i + AHEAD]);
        hit[i] = contains_hash(f, hashes[i]);
    }
}

static umbel_err add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *was_new,
                            size_t *done) {
    const umbeli_counting_kernel *kernel = counting_of(f)->kernel;
    uint64_t added = 0;
    for (size_t i = 0; i < n && i < AHEAD; i++) fetch(f, hashes[i]);
    for (size_t i = 0; i < n; i++) {
        if (n - i > AHEAD) fetch(f, hashes[i + AHEAD]);
        umbeli_counted o = kernel->put(block_of(f, hashes[i]), (uint32_t)hashes[i]);
        added += o.changed;
        if (was_new) was_new[i] = o.had_zero;
    }
    umbeli_count_added(f, added);
    *done = n;
    return UMBEL_OK;
}

/* ---- whole filters ------------------------------------------------------------------------- */

static unsigned sum(unsigned a, unsigned b) {
    return a + b < COUNTER_MAX ? a + b : COUNTER_MAX;
}

static unsigned smaller(unsigned a, unsigned b) {
    return a < b ? a : b;
}

static umbel_err merge(umbel_filter *into, const umbel_filter *from, umbel_diag *diag) {
    (void)diag;
    for (uint64_t i = 0; i < into->data_len; i++) {
        unsigned a = into->data[i], b = from->data[i];
        into->data[i] = (uint8_t)(sum(a & 15, b & 15) | sum(a >> 4, b >> 4) << 4);
    }
    umbeli_count_added(into, umbeli_keys_added(from));
    return UMBEL_OK;
}

static umbel_err intersect(umbel_filter *into, const umbel_filter *with, umbel_diag *diag) {
    (void)diag;
    for (uint64_t i = 0; i < into->data_len; i++) {
        unsigned a = into->data[i], b = with->data[i];
        into->data[i] = (uint8_t)(smaller(a & 15, b & 15) | smaller(a >> 4, b >> 4) << 4);
    }
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

static bool subset(const umbel_filter *part, const umbel_filter *whole) {
    for (uint64_t i = 0; i < part->data_len; i += LANE_BYTES) {
        if (lane_bits(part->data + i) & ~lane_bits(whole->data + i)) return false;
    }
    return true;
}

static umbel_err snapshot(const umbel_filter *f, umbel_filter **out, umbel_diag *diag) {
    umbeli_shape shape = f->shape;
    shape.bits /= 4;
    umbel_filter *bits = NULL;
    umbel_err e =
        umbeli_blocked_new(&umbeli_blocked_native, shape, NULL, &f->settings, &bits, diag);
    if (e) return e;
    for (uint64_t i = 0; i < f->data_len / LANE_BYTES; i++) {
        umbeli_store_le32(bits->data + 4 * i, lane_bits(f->data + LANE_BYTES * i));
    }
    umbeli_count_as_if(bits, (double)umbeli_keys_added(f));
    e = umbeli_meta_copy(bits, f);
    if (e) {
        umbeli_filter_free(bits);
        return e;
    }
    *out = bits;
    return UMBEL_OK;
}

static const umbeli_block_form form = {UMBELI_BLOCK_BYTES, UMBELI_BLOCK_LANES};

/* Like lane_bits, but in another order, for callers that only count them. */
static uint32_t lane_set(const uint8_t *lane) {
    const uint64_t lowest = UINT64_C(0x1111111111111111);
    uint64_t set[2];
    for (int i = 0; i < 2; i++) {
        uint64_t x = umbeli_load_le64(lane + 8 * i);
        x |= x >> 2;
        set[i] = (x | x >> 1) & lowest;
    }
    uint64_t both = set[0] | set[1] << 1;
    return (uint32_t)(both | both >> 30);
}

/* Same as umbeli_blocked_measure of the snapshot, without making one. */
static void measure(const umbel_filter *f, umbel_measurement *now) {
    enum { AT_ONCE = 64, LANES_AT_ONCE = AT_ONCE * UMBELI_BLOCK_LANES };
    uint8_t bits[4 * LANES_AT_ONCE];
    uint64_t nblocks = nblocks_of(f), n;
    double rate = 0;
    now->bits = f->shape.bits / 4; /* one bit per counter */
    for (uint64_t first = 0; first < nblocks; first += n) {
        n = nblocks - first < AT_ONCE ? nblocks - first : AT_ONCE;
        const uint8_t *lanes = f->data + BLOCK_BYTES * first;
        for (uint64_t i = 0; i < n * UMBELI_BLOCK_LANES; i++) {
            umbeli_store_le32(bits + 4 * i, lane_set(lanes + LANE_BYTES * i));
        }
        umbeli_lane_counts counts = umbeli_bits_count_lanes(bits, n);
        now->bits_set += counts.set;
        rate += (double)counts.products;
    }
    rate = rate / (double)(UINT64_C(1) << 40) / (double)nblocks;
    now->rate = umbeli_blocked_with_collisions(form, rate, nblocks, now->bits_set);
}

static double keys_of_bits(const umbel_filter *f, uint64_t bits_set, double *error) {
    return umbeli_blocked_keys(form, nblocks_of(f), bits_set, error);
}

/* ---- making -------------------------------------------------------------------------------- */

static void describe(const umbel_filter *f, umbel_info *info) {
    info->kernel = counting_of(f)->kernel->name;
}

static const umbeli_ops ops = {
    .size = sizeof(counting),
    .kind = &umbeli_kind_counting,
    .kernel = "generic",
    .contains = contains,
    .add = add,
    .contains_many = umbeli_hashed_contains_many,
    .add_many = umbeli_hashed_add_many,
    .hash_many = umbeli_hashed_hash_many,
    .contains_hash = contains_hash,
    .contains_hashes = contains_hashes,
    .add_hashes = add_hashes,
    .probes = probes,
    .merge = merge,
    .intersect = intersect,
    .subset = subset,
    .no_fold = "a counting filter cannot be folded, but its snapshot can",
    .remove = remove_key,
    .count = count,
    .snapshot = snapshot,
    .measure = measure,
    .describe = describe,
    .keys_of_bits = keys_of_bits,
};

static umbel_err make(umbeli_shape shape, const uint8_t *borrow, umbel_err failure,
                      const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    uint64_t nblocks = shape.bits / BLOCK_BITS;
    if (nblocks == 0 || nblocks > UINT32_MAX || shape.bits % BLOCK_BITS) {
        return umbeli_fail(diag, failure,
                           "bits: a counting filter has 1 to 2^32-1 blocks of 1024 bits");
    }
    shape.kind = UMBEL_KIND_COUNTING;
    shape.format = UMBEL_FMT_NATIVE;
    shape.scheme = SCHEME_COUNTING;
    shape.hashes = UMBELI_BLOCK_LANES;
    const char *layout = umbeli_kind_layout(&shape, "counting/xxh3", "counting/siphash13");
    umbel_err e =
        umbeli_filter_new(&ops, layout, &shape, shape.bits / 8, borrow, settings, out, diag);
    if (e) return e;
    counting *c = (counting *)*out;
    c->nblocks = nblocks;
    c->kernel = best();
    return UMBEL_OK;
}

static const umbeli_units units = {
    .bytes = BLOCK_BYTES,
    .max = UINT32_MAX,
    .hashes = UMBELI_BLOCK_LANES,
    .fixed = "hashes: a counting filter always has 8",
    .large = "bytes: a counting filter must be below 512 GiB",
};

static umbel_err create(const umbel_params *params, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    umbeli_shape shape;
    umbel_err e =
        umbeli_kind_new_shape(UMBEL_KIND_COUNTING, &units, params, settings, &shape, diag);
    return e ? e : make(shape, NULL, UMBEL_EINVAL, settings, out, diag);
}

static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, SCHEME_COUNTING, data_len, diag);
    if (e) return e;
    if (shape->hashes != UMBELI_BLOCK_LANES) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: a counting filter always has 8");
    }
    return make(*shape, borrow, UMBEL_ECORRUPT, settings, out, diag);
}

const umbeli_kind umbeli_kind_counting = {
    .id = UMBEL_KIND_COUNTING,
    .name = "counting",
    .traits = {.purpose = "keys can be removed",
               .adds = true,
               .removes = true,
               .counts = true,
               .merges = true,
               .hashes = true},
    .create = create,
    .restore = restore,
};
