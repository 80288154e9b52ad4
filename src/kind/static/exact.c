/* SPDX-License-Identifier: MIT
 *
 * exact.c - exact filters: how they work, and their parameters in native files
 *
 * Somebody who publishes a list of bad names often knows the good ones that will be asked for as
 * well.  A filter of R members that must not find any of N others, but may find strangers, needs
 * log2(N/R) + 1.44 bits per member.  With exceptions (kind/exceptions.h) every good key that the
 * filter finds costs 64 bits; here it costs one.
 *
 * Two ribbons.  The first is a tight filter of the members, with r bits each.  It finds N/2^r of
 * the others.  The second ribbon returns a single bit, the verdict: 1 for a member, 0 for one of
 * those others.  Both are answered exactly, since a ribbon returns the values that it was built for
 * to all its keys; keys that the first ribbon does not find need no verdict.  That takes
 * r + 1 + N/(R 2^r) bits per member.  One bit more in the first ribbon saves N/(R 2^(r+1)) in the
 * second, so it pays as long as that is above 1 (plan_exact.c), and the sum is within 9% of what is
 * needed, for few members within less.  Fractions of bits cannot pay: they halve the rate for just
 * the share of keys that has the extra bit, so the sum is linear between two widths.
 *
 * A stranger is found if its fingerprint fits, one time in 2^r, and its verdict happens to be 1, as
 * every second one is.
 *
 * Seeds.  The second ribbon takes another hash than the first: else keys that the first cannot tell
 * apart would begin in the same places again.  While it is built, hashes carry the verdict in their
 * lowest bit, and so do those of its further levels, which therefore have 63 bits.  Two keys with
 * equal ones and different verdicts, to be expected from 4 billion keys on, cannot both be right;
 * they differ under the next seed.
 *
 * The kind's own parameters in a file:
 *   number   known keys that are not members, one to ten bytes as in a tight filter
 *   byte     seed of the verdicts' hash
 *   byte     length of what follows for the first ribbon
 *   ...      first ribbon, as in a tight filter (tight.c)
 *   ...      second ribbon, likewise; its width is 1, without wide blocks
 */
#include "kind/static/exact.h"

#include "core/cpu.h"
#include "core/diag.h"
#include "core/size.h"
#include "hash/native_hash.h"
#include "kind/kind.h"
#include "plan/exact_layout.h"

/* ---- lookups ------------------------------------------------------------------------------ */

/* Where a verdict is: the parity of a window of slots under a row.  Slots have one bit, so those of
 * a table are the bits of its words, in order. */
typedef struct verdict {
    const uint8_t *words;
    uint64_t mixed; /* gives the row */
    uint32_t offset;
} verdict;

/* A hash without its lowest bit, as everywhere in this ribbon, descends as in a tight filter. */
static inline verdict verdict_at(const umbel_filter *f, uint64_t hash) {
    const umbeli_ribbon *b = &umbeli_exact_of(f)->verdicts;
    const umbeli_tight_rung *r = b->rungs, *last = r + (b->layout.levels - 1);
    const uint32_t size = umbeli_tight_bucket(r->window);
    for (uint64_t x = umbeli_exact_hash(umbeli_exact_of(f)->seed, hash);; r++) {
        x &= ~b->carried;
        uint64_t shard = umbeli_tight_shard(r->shard_bits, x);
        uint64_t inner = umbeli_tight_inner(r->shard_bits, r->odd, x) & ~b->carried;
        uint32_t place = (uint32_t)umbeli_mul_high(inner, r->places), bucket = place / size;
        x = umbeli_tight_mix(inner);
        if (r < last) {
            uint8_t marks = f->data[r->marks_at + shard * r->marks_len + bucket / 4];
            uint32_t code = (marks >> (2 * (bucket % 4))) & 3;
            if (place - bucket * size < umbeli_tight_threshold(r->window, code)) continue;
        }
        uint64_t word = shard * r->table_words + place / UMBELI_TIGHT_BLOCK;
        return (verdict){f->data + r->tables_at + 8 * word, x, place % UMBELI_TIGHT_BLOCK};
    }
}

/* The word after the window is read only if part of the window is in it: a table may end there. */
static inline bool verdict_of(const umbel_filter *f, const verdict *v) {
    uint64_t sum = 0;
    for (uint32_t j = 0; j < umbeli_exact_of(f)->verdicts.rungs->window; j++) {
        uint64_t slots = umbeli_load_le64(v->words + 8 * j) >> v->offset;
        if (v->offset) {
            slots |= umbeli_load_le64(v->words + 8 * j + 8) << (UMBELI_TIGHT_BLOCK - v->offset);
        }
        sum ^= slots & umbeli_tight_row(v->mixed, j);
    }
    return __builtin_parityll(sum);
}

/* The second ribbon has no levels if there are no members: then nothing is found. */
static bool has_members(const umbeli_exact *x) {
    return x->verdicts.layout.levels != 0;
}

static bool has_prints(const umbeli_exact *x) {
    return x->tight.ribbon.layout.levels != 0;
}

static bool contains_hash(const umbel_filter *f, uint64_t hash) {
    const umbeli_exact *x = umbeli_exact_of(f);
    if (!has_members(x) || (has_prints(x) && !x->has->contains_hash(f, hash))) return false;
    verdict v = verdict_at(f, hash);
    return verdict_of(f, &v);
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return contains_hash(f, umbeli_native_hash(&f->shape, key, len));
}

enum { BATCH = 256 };

/* Looks up the verdicts on those of at most BATCH keys that are hit so far. */
static void judge(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    verdict asked[BATCH];
    uint8_t *of[BATCH];
    size_t count = 0;
    bool is_far = umbeli_is_far(f->data_len);
    for (size_t i = 0; i < n; i++) {
        if (!hit[i]) continue;
        asked[count] = verdict_at(f, hashes[i]);
        umbeli_fetch(asked[count].words, is_far);
        of[count++] = &hit[i];
    }
    for (size_t i = 0; i < count; i++) *of[i] = verdict_of(f, &asked[i]);
}

static void contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    const umbeli_exact *x = umbeli_exact_of(f);
    if (n) memset(hit, has_members(x), n);
    if (!has_members(x)) return;
    for (size_t from = 0; from < n; from += BATCH) {
        size_t batch = n - from < BATCH ? n - from : BATCH;
        if (has_prints(x)) x->has->contains_hashes(f, hashes + from, batch, hit + from);
        judge(f, hashes + from, batch, hit + from);
    }
}

/* The bits of the fingerprint, then those of the verdict. */
static size_t probes(const umbel_filter *f, umbel_key key, uint64_t hash, uint64_t *bits,
                     size_t cap) {
    const umbeli_exact *x = umbeli_exact_of(f);
    if (!has_members(x)) return 0;
    size_t n = has_prints(x) ? x->has->probes(f, key, hash, bits, cap) : 0;
    verdict v = verdict_at(f, hash);
    uint64_t first = 8 * (uint64_t)(v.words - f->data) + v.offset;
    for (uint32_t i = 0; i < UMBELI_TIGHT_BLOCK * x->verdicts.rungs->window; i++) {
        uint64_t row = umbeli_tight_row(v.mixed, i / UMBELI_TIGHT_BLOCK);
        if (!(row >> i % UMBELI_TIGHT_BLOCK & 1)) continue;
        if (n < cap) bits[n] = first + i;
        n++;
    }
    return n;
}

static uint64_t thresholds(const umbel_filter *f) {
    return umbeli_exact_of(f)->tight.ribbon.tables_at;
}

static void measure(const umbel_filter *f, umbel_measurement *now) {
    const umbeli_exact *x = umbeli_exact_of(f);
    uint64_t keys = umbeli_keys_added(f);
    now->bits_set = umbeli_bits_count(f->data, f->data_len);
    now->keys = (double)keys;
    now->rate = umbeli_exact_rate(&x->tight.ribbon.layout, keys);
}

static void describe(const umbel_filter *f, umbel_info *info) {
    info->universe = umbeli_exact_of(f)->others;
}

#define EXACT_OPS(name)                                                                        \
    {                                                                                          \
        .size = sizeof(umbeli_exact), .kind = &umbeli_kind_exact, .kernel = name,              \
        .contains = contains, .contains_many = umbeli_hashed_contains_many,                    \
        .hash_many = umbeli_hashed_hash_many, .contains_hash = contains_hash,                  \
        .contains_hashes = contains_hashes, .probes = probes, .always_read = thresholds,       \
        .no_sets = "an exact filter has no bits of single keys; build one from all the keys",  \
        .no_fold =                                                                             \
            "an exact filter has exactly the size its keys need, so there is nothing to fold", \
        .copy = umbeli_tight_copy, .measure = measure, .describe = describe,                   \
    }

/* By the kernel that compares fingerprints. */
static const umbeli_ops generic_ops = EXACT_OPS("generic"), avx2_ops = EXACT_OPS("avx2");

/* ---- making ------------------------------------------------------------------------------- */

/* Thresholds come first, so that all that every lookup reads lies together. */
static void settle(umbeli_exact *x) {
    umbeli_ribbon *prints = &x->tight.ribbon, *verdicts = &x->verdicts;
    uint64_t first = umbeli_tight_tables_at(&prints->layout);
    uint64_t tables_at = first + umbeli_tight_tables_at(&verdicts->layout);
    uint64_t tables = umbeli_tight_len(&prints->layout) - first;
    prints->tables_at = tables_at;
    verdicts->marks_at = first;
    verdicts->tables_at = tables_at + tables;
    verdicts->carried = 1;
    umbeli_ribbon_settle(prints);
    umbeli_ribbon_settle(verdicts);
}

static umbel_err make(umbeli_shape shape, uint64_t len, const uint8_t *borrow,
                      const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    shape.kind = UMBEL_KIND_EXACT;
    shape.format = UMBEL_FMT_NATIVE;
    shape.scheme = UMBELI_SCHEME_EXACT;
    shape.hashes = 1;
    shape.bits = 8 * len;
    const umbeli_tight_kernel *kernel = umbeli_tight_best();
    umbel_err e = umbeli_filter_new(kernel == &umbeli_tight_generic ? &generic_ops : &avx2_ops,
                                    umbeli_kind_layout(&shape, "exact/xxh3", "exact/siphash13"),
                                    &shape, len, borrow, settings, out, diag);
    if (e) return e;
    (*out)->frozen = true;
    ((umbeli_exact *)*out)->has = kernel->ops;
    return UMBEL_OK;
}

umbel_err umbeli_exact_new(const umbeli_tight_layout *prints, const umbeli_tight_layout *verdicts,
                           umbeli_shape shape, const umbeli_settings *settings, umbel_filter **out,
                           umbel_diag *diag) {
    uint64_t len = umbeli_tight_len(prints) + umbeli_tight_len(verdicts);
    umbel_err e = make(shape, len, NULL, settings, out, diag);
    if (e) return e;
    umbeli_exact *x = (umbeli_exact *)*out;
    x->tight.ribbon.layout = *prints;
    x->verdicts.layout = *verdicts;
    settle(x);
    return UMBEL_OK;
}

/* take_kind_params does the rest: there is no layout before that. */
static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, UMBELI_SCHEME_EXACT, data_len, diag);
    if (e) return e;
    if (shape->hashes != 1) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: an exact filter has 1");
    }
    return make(*shape, data_len, borrow, settings, out, diag);
}

/* ---- parameters in files ------------------------------------------------------------------ */

static uint64_t kind_params_len(const umbel_filter *f) {
    const umbeli_exact *x = umbeli_exact_of(f);
    uint8_t number[UMBELI_VARINT];
    return umbeli_varint(x->others, number) + 2 + umbeli_ribbon_params_len(&x->tight.ribbon) +
           umbeli_ribbon_params_len(&x->verdicts);
}

static void put_kind_params(const umbel_filter *f, umbeli_writer *w) {
    const umbeli_exact *x = umbeli_exact_of(f);
    uint8_t number[UMBELI_VARINT];
    umbeli_put(w, number, umbeli_varint(x->others, number));
    umbeli_put_u8(w, (uint8_t)x->seed);
    umbeli_put_u8(w, (uint8_t)umbeli_ribbon_params_len(&x->tight.ribbon));
    umbeli_ribbon_put_params(&x->tight.ribbon, w);
    umbeli_ribbon_put_params(&x->verdicts, w);
}

/* What is wrong with two ribbons and the filter's length; NULL: nothing. */
static const char *layouts_wrong(const umbeli_exact *x, uint64_t data_len) {
    const umbeli_tight_layout *prints = &x->tight.ribbon.layout, *verdicts = &x->verdicts.layout;
    uint64_t first = umbeli_tight_len(prints), second = umbeli_tight_len(verdicts), len;
    if (verdicts->levels &&
        (verdicts->width != 1 || verdicts->level[0].narrow != verdicts->level[0].blocks)) {
        return "verdicts: must have one bit";
    }
    if (!verdicts->levels && (prints->levels || x->seed)) return "levels: verdicts are missing";
    bool lost = (prints->levels != 0) != (first != 0) || (verdicts->levels != 0) != (second != 0);
    if (lost || !umbeli_size_add(first, second, &len) || len != data_len) {
        return "levels and payload size disagree";
    }
    return NULL;
}

/* False, unless it has the shortest form. */
static bool take_others(umbeli_exact *x, umbeli_reader *params) {
    uint8_t number[UMBELI_VARINT];
    size_t before = umbeli_left(params);
    return umbeli_take_varint(params, &x->others) &&
           umbeli_varint(x->others, number) == before - umbeli_left(params);
}

static umbel_err take_kind_params(umbel_filter *f, umbeli_reader *params, umbel_diag *diag) {
    umbeli_exact *x = (umbeli_exact *)f;
    if (!take_others(x, params)) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "universe: not a number");
    }
    x->seed = umbeli_take_u8(params);
    size_t len = umbeli_take_u8(params);
    const uint8_t *bytes = umbeli_take(params, len);
    if (params->failed) return umbeli_fail(diag, UMBEL_ECORRUPT, "parameters: cut off");
    umbeli_reader first = umbeli_reader_over(bytes, len);
    const char *wrong = umbeli_ribbon_take_params(&x->tight.ribbon, &first);
    if (!wrong) wrong = umbeli_ribbon_take_params(&x->verdicts, params);
    if (!wrong) wrong = layouts_wrong(x, f->data_len);
    if (wrong) return umbeli_fail(diag, UMBEL_ECORRUPT, wrong);
    settle(x);
    return UMBEL_OK;
}

const umbeli_kind umbeli_kind_exact = {
    .id = UMBEL_KIND_EXACT,
    .name = "exact",
    .traits = {.purpose = "no known key wrong",
               .built_once = true,
               .hashes = true,
               .universe = true},
    .restore = restore,
    .kind_params_len = kind_params_len,
    .put_kind_params = put_kind_params,
    .take_kind_params = take_kind_params,
};
