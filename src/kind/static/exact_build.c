/* SPDX-License-Identifier: MIT
 *
 * exact_build.c - exact filters from the hashes of members and of others
 *
 * First the members' fingerprints, as a tight filter; then all others are looked up in it.  Those
 * that are found get a verdict, and so do the members.
 *
 * Memory: that of static_shards.c for both sets and, while verdicts are built, for the keys that
 * get one.  All of them may be in temporary files.
 */
#include "kind/static/exact.h"

#include <math.h>
#include <stdatomic.h>

#include "core/diag.h"
#include "plan/exact_layout.h"

typedef struct work {
    const umbeli_shards *members;
    umbeli_shards *others;
    umbel_filter *prints; /* NULL: every key has one */
    umbeli_shards verdicts;
    uint32_t seed;
    uint64_t in_both;
    atomic_flag lock; /* of verdicts and in_both */
} work;

static void enter(work *w) {
    while (atomic_flag_test_and_set_explicit(&w->lock, memory_order_acquire)) continue;
}

static void leave(work *w) {
    atomic_flag_clear_explicit(&w->lock, memory_order_release);
}

/* Every bucket of hashes. */
static umbel_err each_bucket(const umbeli_shards *shards, umbeli_shard_work *job, work *w,
                             umbel_diag *diag) {
    return umbeli_shards_each(shards, UMBELI_STORE_BITS, job, w, diag);
}

/* ---- keys in both sets -------------------------------------------------------------------- */

/* Takes sorted hashes out of others; returns how many are left. */
static size_t subtract(uint64_t *hashes, size_t n, const uint64_t *out, size_t nout) {
    size_t kept = 0;
    for (size_t i = 0, j = 0; i < n; i++) {
        while (j < nout && out[j] < hashes[i]) j++;
        if (j == nout || out[j] != hashes[i]) hashes[kept++] = hashes[i];
    }
    return kept;
}

static umbel_err drop_members(void *ctx, uint32_t t, uint64_t bucket, uint64_t *hashes, size_t n,
                              umbel_diag *diag) {
    (void)t;
    work *w = ctx;
    const umbeli_settings *settings = &w->members->settings;
    uint64_t count = umbeli_store_count(w->members->store, (uint32_t)bucket);
    if (n == 0 || count == 0) return UMBEL_OK;
    uint64_t *members = umbeli_new(settings, (size_t)count * sizeof *members);
    if (!members) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory to build in");
    umbel_err e = umbeli_store_load(w->members->store, (uint32_t)bucket, members, diag);
    size_t kept = e ? n : subtract(hashes, n, members, (size_t)count);
    umbeli_delete(settings, members);
    if (e || kept == n) return e;
    enter(w);
    w->in_both += n - kept;
    leave(w);
    return umbeli_store_replace(w->others->store, (uint32_t)bucket, hashes, kept, diag);
}

/* ---- keys with a verdict ------------------------------------------------------------------ */

static umbel_err add_verdicts(work *w, const uint64_t *hashes, size_t n, umbel_diag *diag) {
    enter(w);
    umbel_err e = umbeli_store_add(w->verdicts.store, hashes, n, diag);
    leave(w);
    return e;
}

static umbel_err collect_members(void *ctx, uint32_t t, uint64_t bucket, uint64_t *hashes, size_t n,
                                 umbel_diag *diag) {
    (void)t, (void)bucket;
    work *w = ctx;
    for (size_t i = 0; i < n; i++) hashes[i] = umbeli_exact_hash(w->seed, hashes[i]) | 1;
    return add_verdicts(w, hashes, n, diag);
}

static umbel_err collect_others(void *ctx, uint32_t t, uint64_t bucket, uint64_t *hashes, size_t n,
                                umbel_diag *diag) {
    enum { BATCH = 1024 };
    (void)t, (void)bucket;
    work *w = ctx;
    uint8_t found[BATCH];
    size_t kept = 0;
    memset(found, 1, sizeof found);
    for (size_t from = 0; from < n; from += BATCH) {
        size_t batch = n - from < BATCH ? n - from : BATCH;
        if (w->prints) w->prints->ops->contains_hashes(w->prints, hashes + from, batch, found);
        for (size_t i = 0; i < batch; i++) {
            uint64_t hash = umbeli_exact_hash(w->seed, hashes[from + i]) & ~UINT64_C(1);
            hashes[kept] = hash;
            kept += found[i];
        }
    }
    return add_verdicts(w, hashes, kept, diag);
}

static umbel_err collect(work *w, const char *directory, umbel_diag *diag) {
    umbel_err e = umbeli_shards_begin(&w->verdicts, directory, &w->members->settings, diag);
    bool any = umbeli_shards_count(w->members) != 0; /* else there is nothing to tell apart */
    if (!e && any) e = each_bucket(w->members, collect_members, w, diag);
    if (!e && any) e = each_bucket(w->others, collect_others, w, diag);
    return e ? e : umbeli_shards_sort(&w->verdicts, diag);
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* The widest fingerprints that leave room for 4 deviations more verdicts than there should be. */
static uint32_t widest(uint64_t members, uint64_t others, uint32_t width, uint64_t bytes) {
    uint32_t best = width;
    for (; width <= UMBELI_TIGHT_MAX_WIDTH; width++) {
        umbeli_tight_layout prints, verdicts;
        double more = 4 * sqrt(ldexp((double)others, -(int)width));
        uint64_t keys = umbeli_exact_verdicts(members, others, width) + (uint64_t)more;
        if (umbeli_exact_prints(members, width, &prints) &&
            umbeli_tight_for_width(keys, 1, &verdicts) &&
            umbeli_tight_len(&prints) + umbeli_tight_len(&verdicts) <= bytes) {
            best = width;
        }
    }
    return best;
}

static umbel_err choose_width(const umbel_params *p, uint64_t members, uint64_t others,
                              uint32_t *width, umbel_diag *diag) {
    *width = umbeli_exact_width(members, others, p->fpr);
    if (*width > UMBELI_TIGHT_MAX_WIDTH) {
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: must be at least 2^-33 for an exact filter");
    }
    if (p->bytes && p->fpr == 0 && members) *width = widest(members, others, *width, p->bytes);
    return UMBEL_OK;
}

/* The members' fingerprints. */
static umbel_err build_prints(work *w, uint32_t width, const umbeli_shape *like,
                              const char *directory, umbel_diag *diag) {
    umbeli_tight_layout l;
    if (width == 0) return UMBEL_OK;
    if (!umbeli_exact_prints(umbeli_shards_count(w->members), width, &l)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "keys: too many for an exact filter");
    }
    umbel_err e = umbeli_tight_new(&l, *like, &w->members->settings, &w->prints, diag);
    if (e) return e;
    umbeli_ribbon *r = &((umbeli_tight *)w->prints)->ribbon;
    return umbeli_ribbon_build(r, w->prints->data, 1, w->members, directory, diag);
}

/* Fingerprints as they are, in their places. */
static void take_prints(umbeli_exact *x, const umbel_filter *prints) {
    const umbeli_ribbon *from = &umbeli_tight_of(prints)->ribbon;
    umbeli_ribbon *to = &x->tight.ribbon;
    for (uint32_t i = 0; i < from->layout.levels; i++) {
        umbeli_ribbon_set_seed(to, i, from->seeds[i]);
    }
    uint8_t *data = x->tight.base.data;
    memcpy(data + to->marks_at, prints->data, (size_t)from->tables_at);
    memcpy(data + to->tables_at, prints->data + from->tables_at,
           (size_t)(prints->data_len - from->tables_at));
}

static umbel_err new_filter(const work *w, const umbel_params *params, const umbeli_shape *like,
                            umbel_filter **out, umbel_diag *diag) {
    static const umbeli_tight_layout none = {0};
    const umbeli_tight_layout *prints =
        w->prints ? &umbeli_tight_of(w->prints)->ribbon.layout : &none;
    umbeli_tight_layout verdicts;
    uint64_t members = umbeli_shards_count(w->members);
    if (!umbeli_tight_for_width(umbeli_shards_count(&w->verdicts), 1, &verdicts)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "keys: too many for an exact filter");
    }
    uint64_t len = umbeli_tight_len(prints) + umbeli_tight_len(&verdicts);
    if (params->bytes && len > params->bytes) {
        return umbeli_fail(diag, UMBEL_EINVAL, "bytes: too few for these keys");
    }
    umbeli_shape shape = *like;
    shape.capacity = members;
    double rate = umbeli_exact_rate(prints, members);
    shape.fpr = params->fpr != 0 ? params->fpr : rate < 1 ? rate : 0;
    umbel_err e = umbeli_exact_new(prints, &verdicts, shape, &w->members->settings, out, diag);
    if (e) return e;
    umbeli_exact *x = (umbeli_exact *)*out;
    x->seed = w->seed;
    x->others = umbeli_shards_count(w->others);
    umbeli_set_keys_added(*out, members);
    if (w->prints) take_prints(x, w->prints);
    return UMBEL_OK;
}

/* *uneven: the verdicts cannot be told apart under w->seed. */
static umbel_err try_seed(work *w, const umbel_params *params, const umbeli_shape *like,
                          const char *directory, bool *uneven, umbel_filter **out,
                          umbel_diag *diag) {
    umbel_filter *f = NULL;
    umbel_err e = collect(w, directory, diag);
    if (!e) e = new_filter(w, params, like, &f, diag);
    if (!e) {
        umbeli_ribbon *r = &((umbeli_exact *)f)->verdicts;
        e = umbeli_ribbon_build(r, f->data, 1, &w->verdicts, directory, diag);
        *uneven = e == UMBEL_EINVAL;
    }
    umbeli_shards_end(&w->verdicts);
    return umbeli_filter_finish(f, e, out);
}

static umbel_err build(work *w, const umbel_params *params, const umbeli_shape *like,
                       const char *directory, umbel_filter **out, umbel_diag *diag) {
    enum { SEEDS = 4 };
    uint32_t width;
    umbel_err e = choose_width(params, umbeli_shards_count(w->members),
                               umbeli_shards_count(w->others), &width, diag);
    if (!e) e = build_prints(w, width, like, directory, diag);
    bool uneven = true;
    for (; w->seed < SEEDS && uneven && (w->seed || !e); w->seed++) {
        uneven = false;
        e = try_seed(w, params, like, directory, &uneven, out, diag);
    }
    umbeli_filter_free(w->prints);
    return e;
}

umbel_err umbeli_exact_build(umbeli_shards *members, umbeli_shards *others,
                             const umbel_params *params, const umbeli_shape *like,
                             const char *directory, umbel_filter **out, uint64_t *in_both,
                             umbel_diag *diag) {
    work w = {.members = members, .others = others, .lock = ATOMIC_FLAG_INIT};
    umbel_err e = umbeli_shards_sort(members, diag);
    if (!e) e = umbeli_shards_sort(others, diag);
    if (!e) e = each_bucket(others, drop_members, &w, diag);
    if (!e) e = build(&w, params, like, directory, out, diag);
    if (!e && in_both) *in_both = w.in_both;
    return e;
}
