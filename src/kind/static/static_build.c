/* SPDX-License-Identifier: MIT
 *
 * static_build.c - static, tight and exact filters from keys in any order, with duplicates
 *
 * Once all keys are in, their hashes are sorted (static_shards.c), which gives their number and
 * with it the layout; then each shard is built on its own.
 */
#include "core/diag.h"
#include "hash/native_hash.h"
#include "kind/kind.h"
#include "kind/static/exact.h"
#include "kind/static/static.h"

enum { HASHED_AT_ONCE = 256 };

struct umbeli_static_builder {
    umbel_params params;
    char *directory;    /* NULL: hashes are kept in memory */
    umbeli_shape shape; /* how keys are hashed */
    umbeli_shards shards;
    umbeli_shards never; /* exact: keys that must not be found */
};

static umbel_err check_params(const umbel_params *p, umbel_diag *diag) {
    bool tight = p->kind == UMBEL_KIND_TIGHT;
    if (p->kind == UMBEL_KIND_EXACT) {
        return p->hashes <= 1 ? UMBEL_OK : umbeli_invalid(diag, "hashes: an exact filter has 1");
    }
    if (p->fpr == 0 && p->bytes == 0) {
        return umbeli_fail(diag, UMBEL_EINVAL,
                           tight ? "fpr, bytes: a tight filter needs one of the two"
                                 : "fpr, bytes: a static filter needs one of the two");
    }
    if (tight && p->hashes > 1) {
        return umbeli_fail(diag, UMBEL_EINVAL, "hashes: a tight filter has 1");
    }
    if (!tight && p->hashes != 0 && p->hashes != 3 && p->hashes != 4) {
        return umbeli_fail(diag, UMBEL_EINVAL, "hashes: a static filter has 3 or 4");
    }
    return UMBEL_OK;
}

/* A copy, for the hashes of a tight filter's further levels. */
static umbel_err keep_directory(umbeli_static_builder *b, const char *directory,
                                const umbeli_settings *settings, umbel_diag *diag) {
    if (!directory) return UMBEL_OK;
    size_t len = strlen(directory) + 1;
    b->directory = umbeli_new(settings, len);
    if (!b->directory) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a builder");
    memcpy(b->directory, directory, len);
    return UMBEL_OK;
}

umbel_err umbeli_static_builder_new(const umbel_params *params, const char *directory,
                                    const umbeli_settings *settings, umbeli_static_builder **out,
                                    umbel_diag *diag) {
    umbel_err e = check_params(params, diag);
    if (e) return e;
    umbeli_static_builder *b = umbeli_new(settings, sizeof *b);
    if (!b) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a builder");
    b->params = *params;
    b->shape = umbeli_kind_shape(params, settings);
    e = keep_directory(b, directory, settings, diag);
    if (!e) e = umbeli_shards_begin(&b->shards, directory, settings, diag);
    if (!e && params->kind == UMBEL_KIND_EXACT) {
        e = umbeli_shards_begin(&b->never, directory, settings, diag);
    }
    if (e) {
        b->shards.settings = *settings;
        umbeli_static_builder_delete(b);
        return e;
    }
    *out = b;
    return UMBEL_OK;
}

void umbeli_static_builder_delete(umbeli_static_builder *b) {
    if (!b) return;
    umbeli_settings settings = b->shards.settings;
    umbeli_shards_end(&b->shards);
    umbeli_shards_end(&b->never);
    umbeli_delete(&settings, b->directory);
    umbeli_delete(&settings, b);
}

static umbel_err add_keys(const umbeli_static_builder *b, umbeli_store *to, const umbel_key *keys,
                          size_t n, umbel_diag *diag) {
    uint64_t hashes[HASHED_AT_ONCE];
    umbel_err e = UMBEL_OK;
    for (size_t from = 0; from < n && !e; from += HASHED_AT_ONCE) {
        size_t chunk = n - from < HASHED_AT_ONCE ? n - from : HASHED_AT_ONCE;
        umbeli_native_hashes(&b->shape, keys + from, chunk, hashes);
        e = umbeli_store_add(to, hashes, chunk, diag);
    }
    return e;
}

umbel_err umbeli_static_builder_add(umbeli_static_builder *b, const umbel_key *keys, size_t n,
                                    umbel_diag *diag) {
    return add_keys(b, b->shards.store, keys, n, diag);
}

umbel_err umbeli_static_builder_never(umbeli_static_builder *b, const umbel_key *keys, size_t n,
                                      umbel_diag *diag) {
    return add_keys(b, b->never.store, keys, n, diag);
}

/* ---- shards ------------------------------------------------------------------------------- */

/* A filter being built, and scratch memory for each thread. */
typedef struct work {
    umbeli_static *filter;
    umbeli_static_scratch scratch[UMBELI_SHARDS_MAX_THREADS];
} work;

static umbel_err build_shard(void *ctx, uint32_t t, uint64_t shard, uint64_t *hashes, size_t n,
                             umbel_diag *diag) {
    work *w = ctx;
    const umbeli_static_layout *l = &w->filter->layout;
    uint8_t seed =
        umbeli_static_build_shard(l, &w->scratch[t], hashes, n, umbeli_static_width(l, shard),
                                  umbeli_static_table(w->filter, shard));
    if (seed == 0) {
        return umbeli_fail(
            diag, UMBEL_EINVAL,
            "seed: the keys do not fit with this one; retry with another, or with a secret");
    }
    w->filter->base.data[shard] = seed;
    return UMBEL_OK;
}

static umbel_err build_shards(const umbeli_shards *shards, umbeli_static *filter, uint64_t fullest,
                              umbel_diag *diag) {
    const umbeli_settings *settings = &shards->settings;
    work w = {.filter = filter};
    umbel_err e = UMBEL_OK;
    for (uint32_t t = 0; t < settings->threads && !e; t++) {
        e = umbeli_static_scratch_new(&filter->layout, fullest, settings, &w.scratch[t]);
        if (e) umbeli_fail(diag, e, "no memory to build in");
    }
    if (!e) e = umbeli_shards_each(shards, filter->layout.shard_bits, build_shard, &w, diag);
    for (uint32_t t = 0; t < settings->threads; t++) {
        umbeli_static_scratch_delete(settings, &w.scratch[t]);
    }
    return e;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static umbel_err choose_widths(const umbel_params *p, umbeli_static_layout *l, uint64_t keys,
                               umbel_diag *diag) {
    if (p->bytes == 0) {
        if (umbeli_static_widths_for_rate(l, keys, p->fpr)) return UMBEL_OK;
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: must be at least 2^-32 for a static filter");
    }
    if (!umbeli_static_widths_for_bytes(l, p->bytes)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "bytes: less than one bit per slot");
    }
    if (p->fpr != 0 && umbeli_static_rate(l, keys) > p->fpr) {
        return umbeli_fail(diag, UMBEL_EINVAL, "bytes: too few for fpr with this many keys");
    }
    return UMBEL_OK;
}

static umbel_err build(umbeli_static_builder *b, uint64_t keys, const umbeli_static_layout *l,
                       uint64_t fullest, umbel_filter **out, umbel_diag *diag) {
    double rate = umbeli_static_rate(l, keys);
    umbeli_shape shape = b->shape;
    shape.capacity = keys;
    shape.fpr = b->params.fpr != 0 ? b->params.fpr : rate;
    umbel_filter *f = NULL;
    umbel_err e = umbeli_static_new(l, shape, &b->shards.settings, &f, diag);
    if (e) return e;
    umbeli_set_keys_added(f, keys);
    if (keys > 0) e = build_shards(&b->shards, (umbeli_static *)f, fullest, diag);
    if (e) {
        umbeli_filter_free(f);
        return e;
    }
    *out = f;
    return UMBEL_OK;
}

static umbel_err finish_static(umbeli_static_builder *b, umbel_filter **out, umbel_diag *diag) {
    umbeli_static_layout l;
    uint64_t keys = umbeli_shards_count(&b->shards);
    if (!umbeli_static_divide(keys, b->params.hashes, 0, &l)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "keys: too many for a static filter");
    }
    uint64_t fullest = umbeli_shards_fullest(&b->shards, l.shard_bits);
    if (fullest > 2 * umbeli_static_room(keys, l.shard_bits)) {
        return umbeli_fail(
            diag, UMBEL_EINVAL,
            "seed: the hashes are uneven with this one; retry with another, or with a secret");
    }
    umbeli_static_divide(keys, b->params.hashes, fullest, &l);
    umbel_err e = choose_widths(&b->params, &l, keys, diag);
    return e ? e : build(b, keys, &l, fullest, out, diag);
}

static umbel_err finish_exact(umbeli_static_builder *b, umbel_filter **out,
                              umbel_build_report *report, umbel_diag *diag) {
    uint64_t in_both = 0;
    umbel_err e = umbeli_exact_build(&b->shards, &b->never, &b->params, &b->shape, b->directory,
                                     out, &in_both, diag);
    if (e) return e;
    report->never = umbeli_shards_count(&b->never) + in_both;
    report->members = in_both;
    return UMBEL_OK;
}

umbel_err umbeli_static_builder_finish(umbeli_static_builder *b, umbel_filter **out,
                                       umbel_build_report *report, umbel_diag *diag) {
    if (b->params.kind == UMBEL_KIND_EXACT) return finish_exact(b, out, report, diag);
    umbel_err e = umbeli_shards_sort(&b->shards, diag);
    if (e) return e;
    if (b->params.kind != UMBEL_KIND_TIGHT) return finish_static(b, out, diag);
    return umbeli_tight_build(&b->shards, &b->params, &b->shape, b->directory, out, diag);
}
