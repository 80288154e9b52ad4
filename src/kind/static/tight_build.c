/* SPDX-License-Identifier: MIT
 *
 * tight_build.c - tight filters, level by level
 *
 * All sizes follow from the number of keys.  Each level builds its tables from sorted hashes, one
 * per thread at a time, and collects the bumped hashes; sorted again, they make the next level.
 * The last level tries seeds until all keys fit, usually one or two.  If none works because more
 * keys got there than planned, which happens once in 150 builds, all levels restart with the next
 * seed.  They also restart, in one build of about 30, when too many keys moved from wide places to
 * narrow ones to keep the promised rate.
 *
 * Memory: that of static_shards.c, 8 bytes for each of the 4% of keys that are bumped, and per
 * thread 12 or 20 bytes for each of a table's slots, of which there are at most half a million.
 */
#include <stdatomic.h>

#include "core/diag.h"
#include "kind/static/tight.h"

enum { ATTEMPTS = 16, MANY = 1 << 25 };

static umbel_err no_memory(umbel_diag *diag) {
    return umbeli_fail(diag, UMBEL_ENOMEM, "no memory to build in");
}

/* State shared by the threads of one level. */
typedef struct work {
    uint8_t *data;
    const umbeli_tight_rung *rung;
    umbeli_store *bumped;       /* for the next level */
    umbeli_tight_passed passed; /* by the whole level */
    atomic_flag lock;           /* of both: held briefly after each shard */
    umbeli_tight_scratch scratch[UMBELI_SHARDS_MAX_THREADS];
} work;

static umbel_err build_shard(void *ctx, uint32_t t, uint64_t shard, uint64_t *hashes, size_t n,
                             umbel_diag *diag) {
    work *w = ctx;
    const umbeli_tight_rung *r = w->rung;
    uint8_t *marks = w->data + r->marks_at + shard * r->marks_len;
    uint8_t *table = w->data + r->tables_at + 8 * shard * r->table_words;
    memset(marks, 0, (size_t)r->marks_len);
    size_t left = umbeli_tight_build_table(r, &w->scratch[t], hashes, n, marks, table);
    umbeli_tight_passed passed = umbeli_tight_table_passed(r, marks);
    while (atomic_flag_test_and_set_explicit(&w->lock, memory_order_acquire)) continue;
    w->passed.wide += passed.wide;
    w->passed.all += passed.all;
    umbel_err e = left ? umbeli_store_add(w->bumped, hashes, left, diag) : UMBEL_OK;
    atomic_flag_clear_explicit(&w->lock, memory_order_release);
    return e;
}

static void scratch_delete(const umbeli_settings *settings, umbeli_tight_scratch *scratch) {
    for (uint32_t t = 0; t < settings->threads; t++) {
        umbeli_delete(settings, scratch[t].rows);
        umbeli_delete(settings, scratch[t].prints);
        umbeli_delete(settings, scratch[t].scratch);
    }
}

static umbel_err scratch_new(const umbeli_shards *shards, const umbeli_tight_rung *r,
                             umbeli_tight_scratch *scratch, umbel_diag *diag) {
    const umbeli_settings *settings = &shards->settings;
    size_t slots = (size_t)r->blocks * UMBELI_TIGHT_BLOCK;
    size_t keys = (size_t)umbeli_shards_fullest(shards, r->shard_bits) + 1;
    bool enough = true;
    for (uint32_t t = 0; t < settings->threads && enough; t++) {
        umbeli_tight_scratch *b = &scratch[t];
        b->kernel = umbeli_tight_best();
        b->rows = umbeli_new(settings, r->window * slots * sizeof *b->rows);
        b->prints = umbeli_new(settings, slots * sizeof *b->prints);
        if (r->odd != 1) b->scratch = umbeli_new(settings, keys * sizeof *b->scratch);
        enough = b->rows && b->prints && (r->odd == 1 || b->scratch);
    }
    return enough ? UMBEL_OK : no_memory(diag);
}

/* Builds a level that may bump, and sorts the hashes of the next. */
static umbel_err build_level(const umbeli_tight_rung *r, uint8_t *data, const umbeli_shards *shards,
                             const char *directory, umbeli_shards *next,
                             umbeli_tight_passed *passed, umbel_diag *diag) {
    bool many = umbeli_shards_count(shards) >=
                MANY; /* fewer hashes take less memory than a file's buffers */
    umbel_err e = umbeli_shards_begin(next, many ? directory : NULL, &shards->settings, diag);
    if (e) return e;
    work w = {.data = data, .rung = r, .bumped = next->store, .lock = ATOMIC_FLAG_INIT};
    e = scratch_new(shards, r, w.scratch, diag);
    if (!e) e = umbeli_shards_each(shards, r->shard_bits, build_shard, &w, diag);
    scratch_delete(&shards->settings, w.scratch);
    *passed = w.passed;
    return e ? e : umbeli_shards_sort(next, diag);
}

/* ---- last level --------------------------------------------------------------------------- */

typedef struct last_work {
    umbeli_ribbon *ribbon;
    uint8_t *data;
    uint32_t level;
    umbeli_tight_scratch scratch;
    uint64_t *copy; /* [keys] */
    bool fits;
} last_work;

static umbel_err try_seeds(void *ctx, uint32_t t, uint64_t shard, uint64_t *hashes, size_t n,
                           umbel_diag *diag) {
    (void)t, (void)shard, (void)diag; /* there is only one shard */
    last_work *w = ctx;
    const umbeli_tight_rung *r = &w->ribbon->rungs[w->level];
    uint8_t *table = w->data + r->tables_at;
    for (uint32_t seed = 0; seed < UMBELI_TIGHT_SEEDS && !w->fits; seed++) {
        umbeli_ribbon_set_seed(w->ribbon, w->level, seed);
        if (n) memcpy(w->copy, hashes, n * sizeof *hashes);
        w->fits = umbeli_tight_build_table(r, &w->scratch, w->copy, n, NULL, table) == 0;
    }
    return UMBEL_OK;
}

/* *fits stays false when no seed works. */
static umbel_err build_last(umbeli_ribbon *b, uint8_t *data, const umbeli_shards *shards,
                            bool *fits, umbel_diag *diag) {
    const umbeli_settings *settings = &shards->settings;
    uint32_t level = b->layout.levels - 1;
    const umbeli_tight_rung *r = &b->rungs[level];
    size_t slots = (size_t)r->blocks * UMBELI_TIGHT_BLOCK;
    if (umbeli_shards_count(shards) > slots) return UMBEL_OK;
    last_work w = {
        .ribbon = b, .data = data, .level = level, .scratch = {.kernel = umbeli_tight_best()}};
    w.scratch.rows = umbeli_new(settings, r->window * slots * sizeof *w.scratch.rows);
    w.scratch.prints = umbeli_new(settings, slots * sizeof *w.scratch.prints);
    w.scratch.scratch = umbeli_new(settings, slots * sizeof *w.scratch.scratch);
    w.copy = umbeli_new(settings, slots * sizeof *w.copy);
    umbel_err e = w.scratch.rows && w.scratch.prints && w.scratch.scratch && w.copy
                      ? umbeli_shards_each(shards, 0, try_seeds, &w, diag)
                      : no_memory(diag);
    umbeli_delete(settings, w.scratch.rows);
    umbeli_delete(settings, w.scratch.prints);
    umbeli_delete(settings, w.scratch.scratch);
    umbeli_delete(settings, w.copy);
    *fits = w.fits;
    return e;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static umbel_err build_levels(umbeli_ribbon *r, uint8_t *data, double fpr,
                              const umbeli_shards *shards, const char *directory, uint32_t seed,
                              bool *fits, umbel_diag *diag) {
    umbeli_shards two[2] = {{.store = NULL}, {.store = NULL}}; /* of this level, and of the next */
    const umbeli_shards *now = shards;
    umbeli_tight_passed passed[UMBELI_TIGHT_MAX_LEVELS];
    umbel_err e = UMBEL_OK;
    for (uint32_t i = 0; i + 1 < r->layout.levels && !e; i++) {
        umbeli_shards *next = &two[i % 2];
        umbeli_shards_end(next);
        umbeli_ribbon_set_seed(r, i, seed);
        e = build_level(&r->rungs[i], data, now, directory, next, &passed[i], diag);
        now = next;
    }
    double rate = e ? 1 : umbeli_tight_exact_rate(&r->layout, umbeli_shards_count(shards), passed);
    if (!e && rate <= fpr) e = build_last(r, data, now, fits, diag);
    umbeli_shards_end(&two[0]);
    umbeli_shards_end(&two[1]);
    return e;
}

umbel_err umbeli_ribbon_build(umbeli_ribbon *r, uint8_t *data, double fpr,
                              const umbeli_shards *shards, const char *directory,
                              umbel_diag *diag) {
    bool fits = r->layout.levels == 0;
    for (uint32_t seed = 0; seed < ATTEMPTS && !fits; seed++) {
        umbel_err e = build_levels(r, data, fpr, shards, directory, seed, &fits, diag);
        if (e) return e;
    }
    if (fits) return UMBEL_OK;
    return umbeli_fail(
        diag, UMBEL_EINVAL,
        "seed: the hashes are uneven with this one; retry with another, or with a secret");
}

static umbel_err choose_layout(const umbel_params *p, uint64_t keys, umbeli_tight_layout *l,
                               umbel_diag *diag) {
    if (umbeli_tight_too_many(keys)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "keys: too many for a tight filter");
    }
    if (p->bytes == 0) {
        if (umbeli_tight_for_rate(keys, p->fpr, l)) return UMBEL_OK;
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: must be at least 2^-32 for a tight filter");
    }
    if (!umbeli_tight_for_bytes(keys, p->bytes, l)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "bytes: too few for the thresholds alone");
    }
    if (p->fpr != 0 && umbeli_tight_promise(l, keys) > p->fpr) {
        return umbeli_fail(diag, UMBEL_EINVAL, "bytes: too few for fpr with this many keys");
    }
    return UMBEL_OK;
}

umbel_err umbeli_tight_build(const umbeli_shards *shards, const umbel_params *params,
                             const umbeli_shape *like, const char *directory, umbel_filter **out,
                             umbel_diag *diag) {
    uint64_t keys = umbeli_shards_count(shards);
    umbeli_tight_layout l;
    umbel_err e = choose_layout(params, keys, &l, diag);
    if (e) return e;
    umbeli_shape shape = *like;
    shape.capacity = keys;
    shape.fpr = params->fpr != 0 ? params->fpr : umbeli_tight_promise(&l, keys);
    umbel_filter *f = NULL;
    e = umbeli_tight_new(&l, shape, &shards->settings, &f, diag);
    if (e) return e;
    umbeli_set_keys_added(f, keys);
    e = umbeli_ribbon_build(&((umbeli_tight *)f)->ribbon, f->data, shape.fpr, shards, directory,
                            diag);
    return umbeli_filter_finish(f, e, out);
}
