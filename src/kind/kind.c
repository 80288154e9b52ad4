/* SPDX-License-Identifier: MIT */
#include "kind/kind.h"

#include "core/diag.h"
#include "hash/native_hash.h"
#include "plan/plan.h"

const umbeli_kind *const umbeli_kinds[] = {
    &umbeli_kind_blocked,
    &umbeli_kind_classic,
    &umbeli_kind_static,
    &umbeli_kind_counting,
    &umbeli_kind_scalable,
    &umbeli_kind_window,
    NULL,
};

const umbeli_kind *umbeli_kind_by_id(umbel_kind id) {
    for (const umbeli_kind *const *kind = umbeli_kinds; *kind; kind++) {
        if ((*kind)->id == id) return *kind;
    }
    return NULL;
}

umbeli_shape umbeli_kind_shape(const umbel_params *params) {
    umbeli_shape shape = {.hash = UMBELI_HASH_XXH3, .seed = params->seed};
    if (params->key) {
        shape.hash = UMBELI_HASH_SIPHASH13;
        shape.secret = umbeli_secret_from(params->key);
    }
    return shape;
}

umbel_err umbeli_kind_check(const umbeli_shape *shape, uint32_t scheme, umbel_diag *diag) {
    if (shape->scheme != scheme) {
        return umbeli_fail(diag, UMBEL_EVERSION, "scheme: not known for this kind");
    }
    if (shape->hash != UMBELI_HASH_XXH3 && shape->hash != UMBELI_HASH_SIPHASH13) {
        return umbeli_fail(diag, UMBEL_EVERSION, "hash: not known for this kind");
    }
    return UMBEL_OK;
}

umbel_err umbeli_kind_plan(umbel_kind kind, const umbel_params *params, umbel_plan *plan,
                           umbel_diag *diag) {
    *plan = (umbel_plan){
        .kind = kind,
        .keys = params->keys,
        .fpr = params->fpr,
        .bytes = params->bytes,
        .hashes = params->hashes,
        .generations = params->generations,
    };
    umbel_err e = umbeli_plan_solve(plan);
    return e ? umbeli_fail(diag, e, plan->why) : UMBEL_OK;
}
