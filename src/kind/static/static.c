/* SPDX-License-Identifier: MIT
 *
 * static.c - static filters: lookups, and their parameters in native files
 *
 * The kind's own parameters in a file:
 *   offset  size  field                        offset  size  field
 *   0       4     shards: 0 or a power of two  12      4     fingerprint width, bits
 *   4       4     segment length, log2         16      4     wide shards: one bit more
 *   8       4     segments of first slots      20      4     0
 */
#include "kind/static/static.h"

#include "core/cpu.h"
#include "core/diag.h"
#include "hash/native_hash.h"
#include "kind/kind.h"

enum { KIND_PARAMS_LEN = 24, GROUP = 32 };

/* ---- lookups ----------------------------------------------------------------------------- */

typedef struct probe {
    const uint8_t *table;
    umbeli_static_place place;
    uint32_t width;
} probe;

static inline probe probe_in(const umbeli_static *s, uint64_t shard, uint32_t arity, uint64_t hash,
                             uint8_t seed) {
    return (probe){
        .table = umbeli_static_table(s, shard),
        .place = umbeli_static_place_of(&s->grid, arity, hash, seed),
        .width = umbeli_static_width(&s->layout, shard),
    };
}

static inline probe probe_of(const umbeli_static *s, uint32_t arity, uint64_t hash) {
    uint64_t shard = umbeli_static_shard(&s->grid, hash);
    return probe_in(s, shard, arity, hash, s->base.data[shard]);
}

static uint64_t bit_of(const probe *q, uint32_t i) {
    return (uint64_t)q->place.slot[i] * q->width;
}

/* Reads up to 7 bytes after the table: the next table, the padding of an array, or a file's
 * trailer. */
static inline bool matches(const probe *q, uint32_t arity) {
    uint64_t sum = q->place.print;
    for (uint32_t i = 0; i < arity; i++) {
        uint64_t bit = bit_of(q, i);
        sum ^= umbeli_load_le64(q->table + bit / 8) >> (bit % 8);
    }
    return (sum & ((UINT64_C(1) << q->width) - 1)) == 0;
}

static __attribute__((noinline)) bool has_seeded(const umbeli_static *s, uint64_t hash) {
    probe q = probe_of(s, s->layout.arity, hash);
    return matches(&q, s->layout.arity);
}

/* Nearly all shards are built with the first seed.  A branch lets the processor guess that this one
 * is, so that a lookup does not wait for the byte that says so. */
static inline bool first_seed(const umbeli_static *s, uint64_t shard) {
    return __builtin_expect(s->base.data[shard] == UMBELI_STATIC_FIRST_SEED, 1);
}

static inline bool has_bits(const umbeli_static *s, uint32_t arity, uint64_t hash) {
    uint64_t shard = umbeli_static_shard(&s->grid, hash);
    if (!first_seed(s, shard)) return has_seeded(s, hash);
    probe q = probe_in(s, shard, arity, hash, UMBELI_STATIC_FIRST_SEED);
    return matches(&q, arity);
}

/* Not inlined, so that the function with has_bytes has no registers to save. */
static __attribute__((noinline)) bool has_any_bits(const umbeli_static *s, uint64_t hash) {
    if (s->layout.empty) return false;
    return s->layout.arity == 3 ? has_bits(s, 3, hash) : has_bits(s, 4, hash);
}

/* The first slot counts from the first shard's.  Each shard's begin at a multiple of `step`, so the
 * others follow from it as they do within a shard. */
static inline bool has_bytes(const umbeli_static *s, uint64_t hash) {
    uint64_t shard = umbeli_static_shard(&s->grid, hash);
    if (!first_seed(s, shard)) return has_seeded(s, hash);
    uint64_t x = umbeli_static_mix(hash, UMBELI_STATIC_FIRST_SEED);
    uint64_t first = umbeli_mul_high(hash, s->ranges) + shard * s->between;
    const uint8_t *tables = s->base.data + s->tables_at;
    uint32_t sum = umbeli_static_print(x);
    for (uint32_t i = 0; i < UMBELI_STATIC_MAX_ARITY; i++) {
        sum ^= tables[umbeli_static_slot(first, s->grid.step, x, i)];
    }
    return (uint8_t)sum == 0;
}

static inline bool has(const umbeli_static *s, uint64_t hash) {
    return s->bytes ? has_bytes(s, hash) : has_any_bits(s, hash);
}

static bool contains_hash(const umbel_filter *f, uint64_t hash) {
    return has(umbeli_static_of(f), hash);
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return has(umbeli_static_of(f), umbeli_native_hash(&f->shape, key, len));
}

static size_t probes(const umbel_filter *f, umbel_key key, uint64_t hash, uint64_t *bits,
                     size_t cap) {
    (void)key;
    const umbeli_static *s = umbeli_static_of(f);
    uint32_t arity = s->layout.arity;
    if (s->layout.empty) return 0;
    probe q = probe_of(s, arity, hash);
    for (uint32_t i = 0; i < arity && i < cap; i++) {
        bits[i] = 8 * (uint64_t)(q.table - f->data) + bit_of(&q, i);
    }
    return arity;
}

/* The seeds of the shards. */
static uint64_t seeds_len(const umbel_filter *f) {
    return umbeli_static_of(f)->tables_at;
}

static inline void prefetch(const umbeli_static *s, uint32_t arity, const uint64_t *hashes,
                            size_t n, probe *q) {
    bool is_far = umbeli_is_far(s->base.data_len);
    for (size_t i = 0; i < n; i++) {
        q[i] = probe_of(s, arity, hashes[i]);
        for (uint32_t j = 0; j < arity; j++) {
            umbeli_fetch(q[i].table + bit_of(&q[i], j) / 8, is_far);
        }
    }
}

/* While the lines of one group are being fetched, the group before is compared. */
static inline void contains_all(const umbeli_static *s, uint32_t arity, const uint64_t *hashes,
                                size_t n, uint8_t *hit) {
    probe groups[2][GROUP];
    prefetch(s, arity, hashes, n < GROUP ? n : GROUP, groups[0]);
    for (size_t from = 0, turn = 0; from < n; from += GROUP, turn ^= 1) {
        size_t left = n - from, chunk = left < GROUP ? left : GROUP, next = left - chunk;
        prefetch(s, arity, hashes + from + chunk, next < GROUP ? next : GROUP, groups[turn ^ 1]);
        for (size_t i = 0; i < chunk; i++) hit[from + i] = matches(&groups[turn][i], arity);
    }
}

static void contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    const umbeli_static *s = umbeli_static_of(f);
    if (s->layout.empty) {
        if (n) memset(hit, 0, n);
    } else if (s->layout.arity == 3) {
        contains_all(s, 3, hashes, n, hit);
    } else {
        contains_all(s, 4, hashes, n, hit);
    }
}

#if UMBELI_X86
/* A file's tables may be larger than the 32 bits that the kernel multiplies. */
static void contains_hashes_avx2(const umbel_filter *f, const uint64_t *hashes, size_t n,
                                 uint8_t *hit) {
    const umbeli_static *s = umbeli_static_of(f);
    if (s->layout.empty || s->wide_len > UINT32_MAX) {
        contains_hashes(f, hashes, n, hit);
    } else {
        umbeli_static_contains_avx2(s, hashes, n, hit);
    }
}
#endif

/* ---- whole filters ------------------------------------------------------------------------- */

/* A static filter is always frozen, so adds never get here. */
static umbel_err copy(umbel_filter *into, const umbel_filter *from) {
    (void)from;
    into->frozen = true;
    return UMBEL_OK;
}

static void measure(const umbel_filter *f, umbel_measurement *now) {
    const umbeli_static *s = umbeli_static_of(f);
    uint64_t keys = umbeli_keys_added(f);
    now->bits_set = umbeli_bits_count(f->data, f->data_len);
    now->keys = (double)keys;
    now->rate = umbeli_static_rate(&s->layout, keys);
}

#define STATIC_OPS(kernel_name, contains_hashes_of_kernel)                                        \
    {                                                                                             \
        .size = sizeof(umbeli_static), .kind = &umbeli_kind_static, .kernel = kernel_name,        \
        .contains = contains, .contains_many = umbeli_hashed_contains_many,                       \
        .hash_many = umbeli_hashed_hash_many, .contains_hash = contains_hash,                     \
        .contains_hashes = contains_hashes_of_kernel, .probes = probes, .always_read = seeds_len, \
        .no_sets = "a static filter has no bits of single keys; build one from all the keys",     \
        .no_fold =                                                                                \
            "a static filter has exactly the size its keys need, so there is nothing to fold",    \
        .copy = copy, .measure = measure,                                                         \
    }

static const umbeli_ops generic = STATIC_OPS("generic", contains_hashes);
#if UMBELI_X86
static const umbeli_ops avx2 = STATIC_OPS("avx2", contains_hashes_avx2);
#endif

static const umbeli_ops *best(void) {
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) return &avx2;
#endif
    return &generic;
}

/* ---- making ------------------------------------------------------------------------------- */

static void lay_out(umbeli_static *s, const umbeli_static_layout *layout) {
    s->layout = *layout;
    s->tables_at = umbeli_static_tables_at(layout);
    s->wide_len = umbeli_static_table_len(layout, layout->width + 1);
    s->narrow_len = umbeli_static_table_len(layout, layout->width);
    s->grid = umbeli_static_grid_of(layout);
    s->bytes = !layout->empty && layout->arity == UMBELI_STATIC_MAX_ARITY && layout->width == 8 &&
               layout->wide == 0;
    s->ranges = s->grid.range << layout->shard_bits;
    s->between = (layout->arity - 1) * s->grid.step;
}

static umbel_err make(const umbeli_static_layout *layout, umbeli_shape shape, uint64_t len,
                      const uint8_t *borrow, const umbeli_settings *settings, umbel_filter **out,
                      umbel_diag *diag) {
    shape.kind = UMBEL_KIND_STATIC;
    shape.format = UMBEL_FMT_NATIVE;
    shape.scheme = UMBELI_SCHEME_STATIC;
    shape.hashes = layout->arity;
    shape.bits = 8 * len;
    const char *layout_name = umbeli_kind_layout(&shape, "static/xxh3", "static/siphash13");
    umbel_err e = umbeli_filter_new(best(), layout_name, &shape, len, borrow, settings, out, diag);
    if (e) return e;
    (*out)->frozen = true;
    lay_out((umbeli_static *)*out, layout);
    return UMBEL_OK;
}

umbel_err umbeli_static_new(const umbeli_static_layout *layout, umbeli_shape shape,
                            const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    return make(layout, shape, umbeli_static_len(layout), NULL, settings, out, diag);
}

/* take_kind_params does the rest: there is no layout before that. */
static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, UMBELI_SCHEME_STATIC, data_len, diag);
    if (e) return e;
    if (shape->hashes != 3 && shape->hashes != 4) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: a static filter has 3 or 4");
    }
    umbeli_static_layout layout = {.arity = shape->hashes, .empty = true};
    return make(&layout, *shape, data_len, borrow, settings, out, diag);
}

static uint64_t kind_params_len(const umbel_filter *f) {
    (void)f;
    return KIND_PARAMS_LEN;
}

static void put_kind_params(const umbel_filter *f, umbeli_writer *w) {
    const umbeli_static_layout *l = &umbeli_static_of(f)->layout;
    umbeli_put_u32le(w, (uint32_t)umbeli_static_shards(l));
    umbeli_put_u32le(w, l->segment_bits);
    umbeli_put_u32le(w, l->segments);
    umbeli_put_u32le(w, l->width);
    umbeli_put_u32le(w, l->wide);
    umbeli_put_u32le(w, 0);
}

static const char *wrong(const umbeli_static_layout *l, uint32_t shards) {
    if (l->width == 0 || l->width > (uint32_t)UMBELI_STATIC_MAX_WIDTH - (l->wide > 0)) {
        return "fingerprint width: not in 1 to 32";
    }
    if (l->empty) {
        return l->segment_bits || l->segments || l->wide ? "shards: 0, but there are segments"
                                                         : NULL;
    }
    if ((shards & (shards - 1)) || l->shard_bits > UMBELI_STATIC_MAX_SHARD_BITS) {
        return "shards: must be a power of two up to 2^24";
    }
    if (l->wide >= shards) return "wide shards: more than all shards";
    if (l->segment_bits > UMBELI_STATIC_MAX_SEGMENT_BITS) return "segment length: above 2^18";
    if (l->segments == 0 || l->segments > (UINT32_MAX >> l->segment_bits) - l->arity) {
        return "segments: 0, or 2^32 slots";
    }
    return NULL;
}

static umbel_err take_kind_params(umbel_filter *f, umbeli_reader *params, umbel_diag *diag) {
    umbeli_static_layout l = {.arity = f->shape.hashes};
    uint32_t shards = umbeli_take_u32le(params);
    l.empty = shards == 0;
    while (l.shard_bits < 31 && shards >> (l.shard_bits + 1)) l.shard_bits++;
    l.segment_bits = umbeli_take_u32le(params);
    l.segments = umbeli_take_u32le(params);
    l.width = umbeli_take_u32le(params);
    l.wide = umbeli_take_u32le(params);
    uint32_t zero = umbeli_take_u32le(params);
    if (params->failed || umbeli_left(params) || zero) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "parameters: must be 24 bytes, the last four 0");
    }
    const char *what = wrong(&l, shards);
    if (what) return umbeli_fail(diag, UMBEL_ECORRUPT, what);
    uint64_t len = umbeli_static_len(&l);
    if (f->data_len != len || l.empty != (len == 0)) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "tables and payload size disagree");
    }
    lay_out((umbeli_static *)f, &l);
    return UMBEL_OK;
}

const umbeli_kind umbeli_kind_static = {
    .id = UMBEL_KIND_STATIC,
    .name = "static",
    .traits = {.purpose = "small, built once", .built_once = true, .hashes = true},
    .restore = restore,
    .kind_params_len = kind_params_len,
    .put_kind_params = put_kind_params,
    .take_kind_params = take_kind_params,
};
