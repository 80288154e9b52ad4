/* SPDX-License-Identifier: MIT
 *
 * classic_native.c - umbel's own scheme for the classic kind
 *
 * A 128-bit hash of the key (XXH3, or SipHash-1-3 with a secret) gives a start and an odd step.
 * Probe i is where the i-th value of the sequence
 *     x = low;  x = x * M + step;  x = x * M + step; ...        (mod 2^64, step = high | 1)
 * falls when [0, 2^64) is scaled to [0, bits).  All 128 bits take part, so quality does not drop
 * above 2^32 bits; scaling needs no division; and thanks to the multiplier the probes of one key do
 * not form an arithmetic progression, which would worsen the rate of small filters.
 */
#include "core/cpu.h"
#include "core/diag.h"
#include "core/platform.h"
#include "hash/native_hash.h"
#include "kind/classic/classic.h"
#include "kind/kind.h"

/* Keys whose lines are fetched while those of the group before are tested. */
enum { GROUP = 16 };

static const uint64_t multiplier = UMBELI_CLASSIC_MULTIPLIER;

static void positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    const umbeli_shape *shape = &c->base.shape;
    umbeli_hash128 h = umbeli_native_hash128(shape, key, len);
    uint64_t x = h.low, step = h.high | 1;
    for (uint32_t i = 0; i < shape->hashes; i++) {
        pos[i] = umbeli_mul_high(x, shape->bits);
        x = x * multiplier + step;
    }
}

/* Half of the bits of a full filter are set, so a branch on each would be a coin toss: the first
 * FIRST probes, which decide seven of eight absent keys, share a branch, and so do the others. */
static bool contains(const umbel_filter *f, const void *key, size_t len) {
    enum { FIRST = 3 };
    const uint8_t *data = f->data;
    const uint64_t bits = f->shape.bits;
    const uint32_t k = f->shape.hashes, first = k < FIRST ? k : FIRST;
    umbeli_hash128 h = umbeli_native_hash128(&f->shape, key, len);
    uint64_t x = h.low, step = h.high | 1;
    unsigned all = 1;
    uint32_t i = 0;
    for (; i < first; i++, x = x * multiplier + step) {
        all &= umbeli_bit_test(data, umbeli_mul_high(x, bits));
    }
    if (!all) return false;
    for (; i < k; i++, x = x * multiplier + step) {
        all &= umbeli_bit_test(data, umbeli_mul_high(x, bits));
    }
    return all;
}

/* ---- Batches ----
 *
 * Cache misses overlap: the lines of one group of keys are fetched while the group before is
 * tested.  Half of the bits of a full filter are set, so a branch on a bit is a coin toss; all
 * probes of one stage are therefore tested without one, and only keys that pass continue to the
 * next.  In the caches there are two stages: the first two probes, which decide three of four
 * absent keys, and the others.  Beyond them, where a line that need not be fetched is worth more
 * than a test, three: one probe, two, and the others. */

#define INLINED __attribute__((always_inline))

/* Where the batch comes from: keys to hash, or hashes. */
typedef struct source {
    const umbeli_shape *shape;
    const umbel_key *keys;
    const umbeli_hash128 *hashes;
} source;

/* The hashes of up to GROUP keys; `room` is for those that have to be computed. */
static inline const umbeli_hash128 *hashes_at(const source *s, size_t from, size_t n,
                                              umbeli_hash128 *room) {
    if (!s->keys) return s->hashes + from;
    umbeli_native_hashes128(s->shape, s->keys + from, n, room);
    return room;
}

enum { STAGES = 3, BEYOND_CACHES = 32 * 1024 * 1024 /* bytes: a typical last-level cache */ };

/* Stage i tests the probes from end[i - 1] to end[i]; the last may be empty. */
typedef struct stages {
    uint32_t end[STAGES];
} stages;

static stages stages_of(umbeli_classic_bits b) {
    bool beyond = b.bits / 8 > BEYOND_CACHES && UMBELI_HAVE_PREFETCH;
    stages s = {{beyond ? 1 : 2, beyond ? 3 : b.hashes, b.hashes}};
    for (size_t i = 0; i < STAGES; i++) {
        if (s.end[i] > b.hashes) s.end[i] = b.hashes;
    }
    return s;
}

/* The probes of a key in the first stage, one or two, and where its sequence continues. */
typedef struct start {
    uint64_t first, second, x, step;
} start;

typedef struct group {
    start key[GROUP];
    size_t passed;     /* how many keys have passed every stage so far ... */
    uint8_t of[GROUP]; /* ... and which */
} group;

INLINED static inline void begin(umbeli_classic_bits b, bool is_far, const stages *stage,
                                 const source *s, size_t from, size_t n, group *g) {
    umbeli_hash128 room[GROUP];
    const umbeli_hash128 *h = hashes_at(s, from, n, room);
    bool single = stage->end[0] == 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t step = h[i].high | 1, x = h[i].low * multiplier + step;
        uint64_t first = umbeli_mul_high(h[i].low, b.bits);
        uint64_t second = single ? first : umbeli_mul_high(x, b.bits);
        if (!umbeli_classic_is_near(b.bits)) {
            umbeli_fetch(b.data + (first >> 3), is_far);
            if (!single) umbeli_fetch(b.data + (second >> 3), is_far);
        }
        g->key[i] = (start){first, second, single ? x : x * multiplier + step, step};
    }
}

/* The lines of the next stage, for the keys that have passed. */
INLINED static inline void fetch_stage(umbeli_classic_bits b, bool is_far, uint32_t from,
                                       uint32_t to, const group *g) {
    if (umbeli_classic_is_near(b.bits)) return;
    for (size_t i = 0; i < g->passed; i++) {
        uint64_t x = g->key[g->of[i]].x, step = g->key[g->of[i]].step;
        for (uint32_t p = from; p < to; p++, x = x * multiplier + step) {
            umbeli_fetch(b.data + (umbeli_mul_high(x, b.bits) >> 3), is_far);
        }
    }
}

static inline void test_first(umbeli_classic_bits b, size_t n, group *g, uint8_t *hit) {
    size_t passed = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned both = umbeli_bit_test(b.data, g->key[i].first); /* no branch */
        both &= umbeli_bit_test(b.data, g->key[i].second);
        hit[i] = (uint8_t)both;
        g->of[passed] = (uint8_t)i;
        passed += both;
    }
    g->passed = passed;
}

static inline void test_stage(umbeli_classic_bits b, uint32_t from, uint32_t to, group *g,
                              uint8_t *hit) {
    size_t passed = 0;
    for (size_t i = 0; i < g->passed; i++) {
        uint8_t of = g->of[i];
        uint64_t x = g->key[of].x, step = g->key[of].step;
        unsigned all = 1;
        for (uint32_t p = from; p < to; p++, x = x * multiplier + step) {
            all &= umbeli_bit_test(b.data, umbeli_mul_high(x, b.bits));
        }
        g->key[of].x = x;
        hit[of] = (uint8_t)all;
        g->of[passed] = of;
        passed += all;
    }
    g->passed = passed;
}

INLINED static inline void contains_groups(umbeli_classic_bits b, bool is_far, const source *s,
                                           size_t n, uint8_t *hit) {
    group ring[STAGES + 1]; /* one that is being fetched, and one for each stage */
    const stages stage = stages_of(b);
    const uint32_t *end = stage.end;
    size_t groups = (n + GROUP - 1) / GROUP;
    for (size_t g = 0; g < groups + STAGES; g++) {
        size_t from = g * GROUP;
        if (g < groups) {
            begin(b, is_far, &stage, s, from, n - from < GROUP ? n - from : GROUP,
                  &ring[g % (STAGES + 1)]);
        }
        if (g >= 1 && g - 1 < groups) {
            group *at = &ring[(g - 1) % (STAGES + 1)];
            size_t chunk = n - from + GROUP;
            test_first(b, chunk < GROUP ? chunk : GROUP, at, hit + from - GROUP);
            fetch_stage(b, is_far, end[0], end[1], at);
        }
        if (g >= 2 && g - 2 < groups) {
            group *at = &ring[(g - 2) % (STAGES + 1)];
            test_stage(b, end[0], end[1], at, hit + from - 2 * GROUP);
            fetch_stage(b, is_far, end[1], end[2], at);
        }
        if (end[1] < end[2] && g >= 3) {
            test_stage(b, end[1], end[2], &ring[(g - 3) % (STAGES + 1)], hit + from - 3 * GROUP);
        }
    }
}

static void contains_all(umbeli_classic_bits b, const source *s, size_t n, uint8_t *hit) {
    if (umbeli_is_far(b.bits / 8)) {
        contains_groups(b, true, s, n, hit);
    } else {
        contains_groups(b, false, s, n, hit);
    }
}

/* ---- Adds ----
 *
 * A ring holds the positions of the next keys, whose lines are being fetched: a key is added, and
 * a later one takes its place. */

enum {
    HASHED_AT_ONCE = 1024,
    POSITIONS = UMBELI_CLASSIC_MAX_HASHES, /* in the ring: room for one key at least ... */
    AHEAD = 16,                            /* ... and this many at most */
};

static inline void fetch(umbeli_classic_bits b, umbeli_hash128 h, uint64_t *pos) {
    uint64_t x = h.low, step = h.high | 1;
    bool is_far = umbeli_is_far(b.bits / 8);
    for (uint32_t p = 0; p < b.hashes; p++, x = x * multiplier + step) {
        pos[p] = umbeli_mul_high(x, b.bits);
        if (!umbeli_classic_is_near(b.bits)) umbeli_fetch(b.data + (pos[p] >> 3), is_far);
    }
}

static inline bool set_bits(umbeli_classic_bits b, const uint64_t *pos) {
    bool changed = false;
    for (uint32_t p = 0; p < b.hashes; p++) changed |= umbeli_bit_set(b.data, pos[p]);
    return changed;
}

static uint64_t add_ring(umbeli_classic_bits b, const umbeli_hash128 *h, size_t n,
                         uint8_t *was_new) {
    size_t ahead = POSITIONS / b.hashes < AHEAD ? POSITIONS / b.hashes : AHEAD;
    uint64_t ring[POSITIONS], *end = ring + ahead * b.hashes, *pos = ring, added = 0;
    for (size_t i = 0; i < ahead && i < n; i++) fetch(b, h[i], ring + i * b.hashes);
    for (size_t i = 0; i < n; i++) {
        bool changed = set_bits(b, pos);
        added += changed;
        if (was_new) was_new[i] = changed;
        if (n - i > ahead) fetch(b, h[i + ahead], pos);
        pos += b.hashes;
        if (pos == end) pos = ring;
    }
    return added;
}

uint64_t umbeli_classic_add_hashed(umbeli_classic_bits into, const umbeli_hash128 *h, size_t n,
                                   uint8_t *was_new) {
    uint64_t added = 0;
    size_t i = 0;
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) {
        i = umbeli_classic_add_avx2(into, h, n, was_new, &added);
    }
#endif
    return added + add_ring(into, h + i, n - i, was_new ? was_new + i : NULL);
}

void umbeli_classic_contains_hashed(umbeli_classic_bits in, const umbeli_hash128 *h, size_t n,
                                    uint8_t *hit) {
    contains_all(in, &(source){.hashes = h}, n, hit);
}

static umbeli_classic_bits bits_of(const umbel_filter *f) {
    return (umbeli_classic_bits){f->data, f->shape.bits, f->shape.hashes};
}

static void contains_many(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    contains_all(bits_of(f), &(source){.shape = &f->shape, .keys = keys}, n, hit);
}

static uint64_t add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new) {
    umbeli_hash128 hashes[HASHED_AT_ONCE];
    uint64_t added = 0;
    for (size_t i = 0, chunk; i < n; i += chunk) {
        chunk = n - i < HASHED_AT_ONCE ? n - i : HASHED_AT_ONCE;
        umbeli_native_hashes128(&f->shape, keys + i, chunk, hashes);
        added += umbeli_classic_add_hashed(bits_of(f), hashes, chunk, was_new ? was_new + i : NULL);
    }
    return added;
}

const umbeli_scheme umbeli_scheme_native = {
    .id = UMBELI_SCHEME_CLASSIC,
    .layout = "classic/xxh3-128",
    .keyed = "classic/siphash13-128",
    .format = UMBEL_FMT_NATIVE,
    .positions = positions,
    .contains = contains,
    .contains_many = contains_many,
    .add_many = add_many,
    .folds = true,
};

uint64_t umbeli_classic_bit(uint64_t bits, umbeli_hash128 hash, uint32_t i) {
    uint64_t x = hash.low, step = hash.high | 1;
    while (i-- > 0) x = x * multiplier + step;
    return umbeli_mul_high(x, bits);
}

/* ---- Making ---- */

static const umbeli_units units = {
    .bytes = 1,
    .max = INT64_MAX / 8,
    .large = "bytes: must be at most 2^60-1",
};

static umbel_err create(const umbel_params *params, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    umbeli_shape shape;
    umbel_err e = umbeli_kind_new_shape(UMBEL_KIND_CLASSIC, &units, params, settings, &shape, diag);
    return e ? e : umbeli_classic_new(&umbeli_scheme_native, shape, NULL, settings, out, diag);
}

umbel_err umbeli_classic_check(const umbeli_shape *shape, uint64_t data_len, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, UMBELI_SCHEME_CLASSIC, data_len, diag);
    if (e) return e;
    if (shape->hashes == 0 || shape->hashes > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: must be 1 to 1024");
    }
    if (shape->bits == 0 || shape->bits > INT64_MAX) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "bits: must be 1 to 2^63-1");
    }
    return UMBEL_OK;
}

static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_classic_check(shape, data_len, diag);
    return e ? e : umbeli_classic_new(&umbeli_scheme_native, *shape, borrow, settings, out, diag);
}

const umbeli_kind umbeli_kind_classic = {
    .id = UMBEL_KIND_CLASSIC,
    .name = "classic",
    .traits = {.purpose = "small, takes adds", .adds = true, .merges = true, .folds = true},
    .create = create,
    .restore = restore,
};
