/* SPDX-License-Identifier: MIT */
#include "kind/kind.h"

#include "core/diag.h"
#include "core/size.h"
#include "hash/native_hash.h"
#include "plan/plan.h"

#define ADDRESS(name) &umbeli_kind_##name,
const umbeli_kind *const umbeli_kinds[] = {UMBELI_KINDS(ADDRESS) NULL};
#undef ADDRESS

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
         "expansion: only for scalable filters"},
        {UMBEL_KIND_SCALABLE, UMBEL_KIND_AUTO, p->scalable.max_layers,
         "max_layers: only for scalable filters"},
        {UMBEL_KIND_WINDOW, UMBEL_KIND_AUTO, p->window.generations,
         "generations: only for windows"},
        {UMBEL_KIND_WINDOW, UMBEL_KIND_AUTO, p->window.manual, "manual: only for windows"},
    };
    if (!umbeli_kind_by_id(p->kind)) return umbeli_invalid(diag, "kind: no such kind");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].given && fields[i].kind != p->kind && fields[i].also != p->kind) {
            return umbeli_invalid(diag, fields[i].what);
        }
    }
    return UMBEL_OK;
}

umbeli_shape umbeli_kind_shape(const umbel_params *params, const umbeli_settings *settings) {
    return (umbeli_shape){
        .hash = settings->keyed ? UMBEL_HASH_SIPHASH13 : UMBEL_HASH_XXH3,
        .seed = params->seed,
        .secret = settings->secret,
    };
}

umbel_err umbeli_kind_check(const umbeli_shape *shape, uint32_t scheme, uint64_t data_len,
                            umbel_diag *diag) {
    if (shape->scheme != scheme) {
        return umbeli_fail(diag, UMBEL_EVERSION, "scheme: unknown for this kind");
    }
    if (shape->hash != UMBEL_HASH_XXH3 && shape->hash != UMBEL_HASH_SIPHASH13) {
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

umbel_err umbeli_kind_new_shape(umbel_kind kind, const umbeli_units *units,
                                const umbel_params *params, const umbeli_settings *settings,
                                umbeli_shape *shape, umbel_diag *diag) {
    *shape = umbeli_kind_shape(params, settings);
    if (!umbeli_bytes_alone(params)) {
        umbel_plan plan;
        umbel_err e = umbeli_kind_plan(kind, params, &plan, diag);
        if (e) return e;
        shape->bits = plan.bits;
        shape->hashes = plan.hashes;
        shape->capacity = plan.capacity;
        shape->fpr = plan.fpr;
        return UMBEL_OK;
    }
    shape->hashes = params->hashes ? params->hashes : units->hashes;
    if (shape->hashes == 0) {
        return umbeli_invalid(diag, "hashes: required when only bytes is given");
    }
    if (units->fixed && shape->hashes != units->hashes) return umbeli_invalid(diag, units->fixed);
    if (params->bytes > units->max * units->bytes) return umbeli_invalid(diag, units->large);
    shape->bits = params->bytes / units->bytes * units->bytes * 8;
    return UMBEL_OK;
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
        size_t batch = n - from < BATCH ? n - from : BATCH;
        umbeli_native_hashes(&f->shape, keys + from, batch, hashes);
        f->ops->contains_hashes(f, hashes, batch, hit + from);
    }
}

umbel_err umbeli_hashed_add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                                 size_t *done) {
    uint64_t hashes[BATCH];
    umbel_err e = UMBEL_OK;
    *done = 0;
    for (size_t from = 0; from < n && !e; from += BATCH) {
        size_t batch = n - from < BATCH ? n - from : BATCH, added = 0;
        umbeli_native_hashes(&f->shape, keys + from, batch, hashes);
        e = f->ops->add_hashes(f, hashes, batch, was_new ? was_new + from : NULL, &added);
        *done += added;
    }
    return e;
}
