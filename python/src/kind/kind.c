/* SPDX-License-Identifier: MIT */
#include "kind/kind.h"

#include "core/diag.h"
#include "core/size.h"
#include "hash/native_hash.h"
#include "plan/plan.h"

const umbeli_kind *const umbeli_kinds[] = {
    &umbeli_kind_blocked,  &umbeli_kind_classic,  &umbeli_kind_static,
    &umbeli_kind_counting, &umbeli_kind_scalable, &umbeli_kind_window,
    &umbeli_kind_tight,    &umbeli_kind_line,     NULL,
};

const umbeli_kind *umbeli_kind_by_id(umbel_kind id) {
    for (const umbeli_kind *const *kind = umbeli_kinds; *kind; kind++) {
        if ((*kind)->id == id) return *kind;
    }
    return NULL;
}

umbel_err umbeli_kind_params(const umbel_params *p, umbel_diag *diag) {
    const struct {
        umbel_kind kind, also; /* AUTO: no other */
        bool given;
        const char *what;
    } fields[] = {
        {UMBEL_KIND_BLOCKED, UMBEL_KIND_LINE, p->concurrent,
         "concurrent: only blocked and line filters support it"},
        {UMBEL_KIND_SCALABLE, UMBEL_KIND_AUTO, p->scalable.expansion,
         "scalable.expansion: only for scalable filters"},
        {UMBEL_KIND_SCALABLE, UMBEL_KIND_AUTO, p->scalable.max_layers,
         "scalable.max_layers: only for scalable filters"},
        {UMBEL_KIND_WINDOW, UMBEL_KIND_AUTO, p->window.generations,
         "window.generations: only for windows"},
        {UMBEL_KIND_WINDOW, UMBEL_KIND_AUTO, p->window.manual, "window.manual: only for windows"},
    };
    if (!umbeli_kind_by_id(p->kind)) return umbeli_fail(diag, UMBEL_EINVAL, "kind: no such kind");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].given && fields[i].kind != p->kind && fields[i].also != p->kind) {
            return umbeli_fail(diag, UMBEL_EINVAL, fields[i].what);
        }
    }
    return UMBEL_OK;
}

umbeli_shape umbeli_kind_shape(const umbel_params *params) {
    umbeli_shape shape = {.hash = UMBELI_HASH_XXH3, .seed = params->seed};
    if (params->secret) {
        shape.hash = UMBELI_HASH_SIPHASH13;
        shape.secret = umbeli_secret_from(params->secret);
    }
    return shape;
}

umbel_err umbeli_kind_check(const umbeli_shape *shape, uint32_t scheme, uint64_t data_len,
                            umbel_diag *diag) {
    if (shape->scheme != scheme) {
        return umbeli_fail(diag, UMBEL_EVERSION, "scheme: unknown for this kind");
    }
    if (shape->hash != UMBELI_HASH_XXH3 && shape->hash != UMBELI_HASH_SIPHASH13) {
        return umbeli_fail(diag, UMBEL_EVERSION, "hash: unknown for this kind");
    }
    bool whole_bytes = shape->kind != UMBEL_KIND_CLASSIC;
    if (umbeli_ceil_div(shape->bits, 8) != data_len || (whole_bytes && shape->bits % 8)) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "bits and payload size disagree");
    }
    return UMBEL_OK;
}

const char *umbeli_kind_layout(const umbeli_shape *shape, const char *unkeyed, const char *keyed) {
    return umbeli_is_keyed(shape) ? keyed : unkeyed;
}

umbel_err umbeli_kind_plan(umbel_kind kind, const umbel_params *params, umbel_plan *plan,
                           umbel_diag *diag) {
    *plan = (umbel_plan){
        .kind = kind,
        .capacity = params->capacity,
        .fpr = params->fpr,
        .bytes = params->bytes,
        .hashes = params->hashes,
        .generations = params->window.generations,
    };
    umbel_err e = params->concurrent ? umbeli_plan_concurrent(plan) : umbeli_plan_solve(plan);
    return e ? umbeli_fail(diag, e, plan->why) : UMBEL_OK;
}

/* ---- Batches of keys as batches of hashes ---- */

enum { BATCH = 1024 };

void umbeli_hashed_hash_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                             uint64_t *hashes) {
    umbeli_native_hashes(&f->shape, keys, n, hashes);
}

void umbeli_hashed_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                 uint8_t *hit) {
    uint64_t hashes[BATCH];
    for (size_t from = 0; from < n; from += BATCH) {
        size_t some = n - from < BATCH ? n - from : BATCH;
        umbeli_native_hashes(&f->shape, keys + from, some, hashes);
        f->ops->contains_hashes(f, hashes, some, hit + from);
    }
}

umbel_err umbeli_hashed_add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                                 size_t *done) {
    uint64_t hashes[BATCH];
    umbel_err e = UMBEL_OK;
    *done = 0;
    for (size_t from = 0; from < n && !e; from += BATCH) {
        size_t some = n - from < BATCH ? n - from : BATCH, added = 0;
        umbeli_native_hashes(&f->shape, keys + from, some, hashes);
        e = f->ops->add_hashes(f, hashes, some, was_new ? was_new + from : NULL, &added);
        *done += added;
    }
    return e;
}
