/* SPDX-License-Identifier: MIT
 *
 * classic.c - m bits, k probes: the loops, whatever the scheme
 *
 * Batches work on a group of keys at a time, so that their cache misses overlap.  Adds fetch all
 * lines of the group.  Lookups fetch only those of the first probes: with half the bits set, three
 * of four absent keys stop there, and the other lines are fetched only for the rest.
 */
#include "kind/classic/classic.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/cpu.h"
#include "core/diag.h"
#include "core/size.h"
#include "hash/native_hash.h"
#include "kind/key_count.h"
#include "kind/kind.h"
#include "plan/plan.h"

enum {
    GROUP_POSITIONS = UMBELI_CLASSIC_MAX_HASHES, /* processed together; at least one key */
    GROUP_KEYS = 64,                             /* and at most */
    FIRST_PROBES = 2,
};

static bool probe(const uint8_t *bits, const uint64_t *pos, uint32_t k) {
    for (uint32_t i = 0; i < k; i++) {
        if (!umbeli_bit_test(bits, pos[i])) return false;
    }
    return true;
}

static bool mark(uint8_t *bits, const uint64_t *pos, uint32_t k) {
    bool changed = false;
    for (uint32_t i = 0; i < k; i++) changed |= umbeli_bit_set(bits, pos[i]);
    return changed;
}

static bool fits(const umbeli_classic *c, size_t len) {
    return c->scheme->key_len ? c->scheme->key_len == len : c->scheme->min_key_len <= len;
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    uint64_t pos[UMBELI_CLASSIC_MAX_HASHES];
    const umbeli_classic *c = umbeli_classic_of(f);
    if (c->scheme->contains && f->shape.hashes) return c->scheme->contains(f, key, len);
    if (!fits(c, len)) return false;
    c->scheme->positions(c, key, len, pos);
    return probe(f->data, pos, f->shape.hashes);
}

static umbel_err add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    uint64_t pos[UMBELI_CLASSIC_MAX_HASHES];
    const umbeli_classic *c = umbeli_classic_of(f);
    if (!fits(c, len)) return UMBEL_EINVAL;
    c->scheme->positions(c, key, len, pos);
    bool changed = mark(f->data, pos, f->shape.hashes);
    if (changed) umbeli_count_added(f, 1);
    if (was_new) *was_new = changed;
    return UMBEL_OK;
}

static size_t probes(const umbel_filter *f, umbel_key key, uint64_t hash, uint64_t *bits,
                     size_t cap) {
    uint64_t pos[UMBELI_CLASSIC_MAX_HASHES];
    const umbeli_classic *c = umbeli_classic_of(f);
    (void)hash;
    if (!fits(c, key.len)) return 0;
    c->scheme->positions(c, key.data, key.len, pos);
    for (size_t i = 0; i < f->shape.hashes && i < cap; i++) bits[i] = pos[i];
    return f->shape.hashes;
}

static size_t group_of(const umbel_filter *f) {
    size_t keys = f->shape.hashes ? GROUP_POSITIONS / f->shape.hashes : GROUP_KEYS;
    return keys < GROUP_KEYS ? keys : GROUP_KEYS;
}

/* Computes the positions of n keys, one after another, and prefetches the lines of their first
 * probes.  The positions of a key of the wrong length are all 0. */
static void fetch(const umbel_filter *f, const umbel_key *keys, size_t n, uint32_t probes,
                  uint64_t *pos) {
    const umbeli_classic *c = umbeli_classic_of(f);
    bool is_far = umbeli_is_far(f->data_len);
    for (size_t i = 0; i < n; i++, pos += f->shape.hashes) {
        if (fits(c, keys[i].len)) {
            c->scheme->positions(c, keys[i].data, keys[i].len, pos);
        } else {
            memset(pos, 0, f->shape.hashes * sizeof *pos);
        }
        for (uint32_t j = 0; j < probes; j++) umbeli_fetch(f->data + (pos[j] >> 3), is_far);
    }
}

static void contains_group(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    uint64_t pos[GROUP_POSITIONS];
    uint8_t open[GROUP_KEYS]; /* keys that passed the first probes */
    const umbeli_classic *c = umbeli_classic_of(f);
    uint32_t k = f->shape.hashes, first = k < FIRST_PROBES ? k : FIRST_PROBES;
    bool is_far = umbeli_is_far(f->data_len);
    size_t nopen = 0;
    fetch(f, keys, n, first, pos);
    for (size_t i = 0; i < n; i++) {
        unsigned passed = fits(c, keys[i].len); /* branch-free: half would be mispredicted */
        for (uint32_t j = 0; j < first; j++) passed &= umbeli_bit_test(f->data, pos[i * k + j]);
        hit[i] = (uint8_t)passed;
        open[nopen] = (uint8_t)i;
        nopen += passed;
    }
    for (size_t i = 0; i < nopen; i++) {
        const uint64_t *own = pos + open[i] * k;
        for (uint32_t j = first; j < k; j++) umbeli_fetch(f->data + (own[j] >> 3), is_far);
    }
    for (size_t i = 0; i < nopen; i++) {
        hit[open[i]] = probe(f->data, pos + open[i] * k + first, k - first);
    }
}

static void contains_many(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    const umbeli_scheme *scheme = umbeli_classic_of(f)->scheme;
    if (scheme->contains_many && f->shape.hashes) {
        scheme->contains_many(f, keys, n, hit);
        return;
    }
    size_t group = group_of(f);
    for (size_t first = 0; first < n; first += group) {
        contains_group(f, keys + first, n - first < group ? n - first : group, hit + first);
    }
}

static umbel_err add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                          size_t *done) {
    uint64_t pos[GROUP_POSITIONS], added = 0;
    const umbeli_scheme *scheme = umbeli_classic_of(f)->scheme;
    if (scheme->add_many && f->shape.hashes) {
        umbeli_count_added(f, scheme->add_many(f, keys, n, was_new));
        *done = n;
        return UMBEL_OK;
    }
    size_t group = group_of(f), k = f->shape.hashes, fit = 0;
    while (fit < n && fits(umbeli_classic_of(f), keys[fit].len)) fit++;
    for (size_t first = 0; first < fit; first += group) {
        size_t chunk = fit - first < group ? fit - first : group;
        fetch(f, keys + first, chunk, f->shape.hashes, pos);
        for (size_t i = 0; i < chunk; i++) {
            bool changed = mark(f->data, pos + i * k, f->shape.hashes);
            added += changed;
            if (was_new) was_new[first + i] = changed;
        }
    }
    umbeli_count_added(f, added);
    *done = fit;
    return fit < n ? UMBEL_EINVAL : UMBEL_OK;
}

double umbeli_classic_live_rate(uint64_t bits, uint32_t hashes, uint64_t bits_set) {
    int saved = errno; /* set when the power underflows */
    double rate = pow((double)bits_set / (double)bits, hashes);
    errno = saved;
    return rate;
}

double umbeli_classic_estimate(uint64_t bits, uint32_t hashes, uint64_t bits_set) {
    if (hashes == 0 || bits_set == 0) return 0;
    if (bits_set >= bits) return INFINITY;
    return log1p(-(double)bits_set / (double)bits) / (hashes * log1p(-1 / (double)bits));
}

static double rate_of_fill(const umbel_filter *f, uint64_t bits_set, uint64_t bits) {
    return umbeli_classic_live_rate(bits, f->shape.hashes, bits_set);
}

static double keys_of_bits(const umbel_filter *f, uint64_t bits_set, double *error) {
    const umbeli_classic *c = umbeli_classic_of(f);
    const umbeli_shape *s = &f->shape;
    double keys = c->scheme->estimate ? c->scheme->estimate(c, bits_set)
                                      : umbeli_classic_estimate(s->bits, s->hashes, bits_set);
    *error = umbeli_estimate_error((double)s->bits, s->hashes, keys);
    if (c->scheme->estimate_error) *error = fmax(*error, c->scheme->estimate_error(c, keys));
    return keys;
}

static double rate_after(const umbel_filter *f, uint64_t keys) {
    return f->shape.bits ? umbeli_classic_rate(f->shape.bits, f->shape.hashes, keys) : 1;
}

/* Were the rate three times that of one find, none would be found in one of twenty measurements. */
void umbeli_conclude_rate(double rate, umbel_measurement *now) {
    now->rate = fabs(rate);
    now->rate_below = rate < 0 ? fmin(1, -3 * rate) : 0;
}

/* A damaged view may have bits set after the last one; they do not count. */
static void measure(const umbel_filter *f, umbel_measurement *now) {
    const umbeli_classic *c = umbeli_classic_of(f);
    uint64_t bits = f->shape.bits;
    double error;
    now->bits_set = umbeli_bits_count_first(f->data, bits);
    double rate =
        c->scheme->live_rate
            ? c->scheme->live_rate(c, now->bits_set, keys_of_bits(f, now->bits_set, &error))
            : rate_of_fill(f, now->bits_set, bits);
    umbeli_conclude_rate(rate, now);
    if (c->scheme->rate_alike) now->rate_alike = c->scheme->rate_alike(c);
}

typedef struct fold_goal {
    const umbel_filter *filter;
    uint8_t *work;
    double fpr;
} fold_goal;

/* Bit i of `work` becomes the OR of bits group * i to group * (i + 1) - 1 of the filter. */
static void merge_neighbours(const fold_goal *g, uint64_t group) {
    const uint8_t *bits = g->filter->data;
    uint64_t nbits = g->filter->shape.bits, to = 0, end = group;
    memset(g->work, 0, (size_t)(nbits / group / 8));
    for (uint64_t i = 0; i < nbits; i += 64) {
        for (uint64_t word = umbeli_load_le64(bits + i / 8); word; word &= word - 1) {
            for (uint64_t at = i + (uint64_t)__builtin_ctzll(word); at >= end; end += group) to++;
            (void)umbeli_bit_set(g->work, to);
        }
    }
}

static bool fold_fits(void *ctx, uint64_t group) {
    const fold_goal *g = ctx;
    uint64_t bits = g->filter->shape.bits / group;
    merge_neighbours(g, group);
    return rate_of_fill(g->filter, umbeli_bits_count(g->work, bits / 8), bits) <= g->fpr;
}

static umbel_err fold(umbel_filter *f, double fpr, umbel_diag *diag) {
    if (!umbeli_classic_of(f)->scheme->folds) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "this layout cannot be folded");
    }
    if (rate_of_fill(f, umbeli_bits_count(f->data, f->data_len), f->shape.bits) > fpr) {
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: the live rate is already above it");
    }
    umbeli_array work;
    umbel_err e = umbeli_array_new(&f->settings, f->data_len / 2, &work, diag);
    if (e) return e;
    fold_goal goal = {f, work.data, fpr};
    uint64_t words = f->shape.bits % 64 ? 1 : f->shape.bits / 64; /* whole ones must remain */
    uint64_t group = umbeli_fold_factor(words, fold_fits, &goal);
    uint64_t bits = f->shape.bits / group;
    if (group > 1) {
        merge_neighbours(&goal, group);
        e = umbeli_filter_shrink(f, work.data, bits, fpr, diag);
    }
    umbeli_array_delete(&f->settings, &work);
    if (e) return e;
    umbel_plan promise = {.kind = UMBEL_KIND_CLASSIC,
                          .fpr = f->shape.fpr,
                          .bytes = bits / 8,
                          .hashes = f->shape.hashes};
    if (bits != umbeli_classic_of(f)->modulus.divisor) {
        ((umbeli_classic *)f)->modulus = umbeli_modulus_of(bits);
        f->shape.capacity = umbeli_plan_solve(&promise) ? 0 : promise.capacity;
    }
    return UMBEL_OK;
}

const umbeli_ops umbeli_classic_ops = {
    .size = sizeof(umbeli_classic),
    .kind = &umbeli_kind_classic,
    .kernel = "generic",
    .contains = contains,
    .add = add,
    .contains_many = contains_many,
    .add_many = add_many,
    .probes = probes,
    .merge = umbeli_merge_bits,
    .intersect = umbeli_intersect_bits,
    .fold = fold,
    .measure = measure,
    .keys_of_bits = keys_of_bits,
    .rate_after = rate_after,
};

umbel_err umbeli_classic_new(const umbeli_scheme *scheme, umbeli_shape shape, const uint8_t *borrow,
                             const umbeli_settings *settings, umbel_filter **out,
                             umbel_diag *diag) {
    if ((shape.bits == 0 && shape.hashes) || shape.bits > INT64_MAX) {
        return umbeli_fail(diag, UMBEL_EINVAL, "bits: must be 1 to 2^63-1");
    }
    if (shape.hashes > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_fail(diag, UMBEL_EINVAL, "hashes: must be at most 1024");
    }
    shape.kind = UMBEL_KIND_CLASSIC;
    shape.format = scheme->format;
    shape.scheme = scheme->id;
    if (scheme->hash) shape.hash = scheme->hash;
    umbel_filter *f = NULL;
    const char *layout = umbeli_kind_layout(&shape, scheme->layout, scheme->keyed);
    umbel_err e = umbeli_filter_new(&umbeli_classic_ops, layout, &shape,
                                    umbeli_ceil_div(shape.bits, 8), borrow, settings, &f, diag);
    if (e) return e;
    umbeli_classic *c = (umbeli_classic *)f;
    c->scheme = scheme;
    c->modulus = umbeli_modulus_of(shape.bits);
    *out = f;
    return UMBEL_OK;
}
