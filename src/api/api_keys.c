/* SPDX-License-Identifier: MIT
 *
 * api_keys.c - adding and looking up keys and hashes: one indirect call each
 *
 * Empty arrays may be NULL, so empty calls return here.
 */
#include <string.h>

#include "core/diag.h"
#include "core/filter.h"
#include "hash/foreign_hash.h"
#include "kind/blocked/blocked.h"
#include "kind/checked_pieces.h"
#include "umbel_experimental.h"

/* ---- adding ------------------------------------------------------------------------------- */

/* The error alone says why an add failed, so the message is added here for all kinds. */
static umbel_err refused(const umbel_filter *f, umbel_err err, umbel_diag *diag) {
    if (err == UMBEL_ECORRUPT) return umbeli_damage(f, diag);
    const char *what = err == UMBEL_EFROZEN   ? "the filter is read-only"
                       : err == UMBEL_EFULL   ? "the filter is full and may not grow"
                       : err == UMBEL_ENOMEM  ? "no memory to grow"
                       : err == UMBEL_ELIMIT  ? "max_bytes: does not allow it to grow"
                       : err == UMBEL_EINVAL  ? "key: its length does not fit the format"
                       : err == UMBEL_EABSENT ? "the key is certainly not in the filter"
                                              : "filters of this old form cannot grow";
    return umbeli_fail(diag, err, what);
}

static umbel_err no_hashes(umbel_diag *diag) {
    return umbeli_fail(diag, UMBEL_ENOTSUP, "filters of this kind take no hashes");
}

umbel_err umbel_add(umbel_filter *filter, const void *key, size_t len, bool *was_new,
                    umbel_diag *diag) {
    umbel_err e = filter->frozen ? UMBEL_EFROZEN : filter->ops->add(filter, key, len, was_new);
    return e ? refused(filter, e, diag) : UMBEL_OK;
}

umbel_err umbel_add_many(umbel_filter *filter, const umbel_key *keys, size_t n, uint8_t *was_new,
                         size_t *done, umbel_diag *diag) {
    size_t added = 0;
    umbel_err e = filter->frozen ? UMBEL_EFROZEN
                  : n            ? filter->ops->add_many(filter, keys, n, was_new, &added)
                                 : UMBEL_OK;
    if (done) *done = added;
    return e ? refused(filter, e, diag) : UMBEL_OK;
}

umbel_err umbel_add_hashes(umbel_filter *filter, const uint64_t *hashes, size_t n, uint8_t *was_new,
                           size_t *done, umbel_diag *diag) {
    size_t added = 0;
    if (done) *done = 0;
    if (!filter->ops->hash_many) return no_hashes(diag);
    umbel_err e = filter->frozen ? UMBEL_EFROZEN
                  : n            ? filter->ops->add_hashes(filter, hashes, n, was_new, &added)
                                 : UMBEL_OK;
    if (done) *done = added;
    return e ? refused(filter, e, diag) : UMBEL_OK;
}

umbel_err umbel_remove(umbel_filter *filter, const void *key, size_t len, umbel_diag *diag) {
    if (!filter->ops->remove) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "only counting filters can remove keys");
    }
    umbel_err e = filter->frozen ? UMBEL_EFROZEN : filter->ops->remove(filter, key, len);
    return e ? refused(filter, e, diag) : UMBEL_OK;
}

umbel_err umbel_advance(umbel_filter *filter, umbel_diag *diag) {
    if (!filter->ops->advance) return umbeli_fail(diag, UMBEL_ENOTSUP, "only windows advance");
    umbel_err e = filter->frozen ? UMBEL_EFROZEN : filter->ops->advance(filter);
    return e ? refused(filter, e, diag) : UMBEL_OK;
}

/* ---- looking up --------------------------------------------------------------------------- */

bool umbel_contains(const umbel_filter *filter, const void *key, size_t len) {
    return filter->ops->contains(filter, key, len);
}

void umbel_contains_many(const umbel_filter *filter, const umbel_key *keys, size_t n,
                         uint8_t *hit) {
    if (n) filter->ops->contains_many(filter, keys, n, hit);
}

uint32_t umbel_count(const umbel_filter *filter, const void *key, size_t len) {
    if (filter->ops->count) return filter->ops->count(filter, key, len);
    return filter->ops->contains(filter, key, len);
}

size_t umbel_probes(const umbel_filter *filter, const void *key, size_t len, uint64_t *bits,
                    size_t cap) {
    uint64_t hash = 0; /* stays so where keys are not hashed to 64 bits */
    (void)umbel_hash_many(filter, &(umbel_key){key, len}, 1, &hash, NULL);
    return filter->ops->probes ? filter->ops->probes(filter, (umbel_key){key, len}, hash, bits, cap)
                               : 0;
}

/* ---- hashes ------------------------------------------------------------------------------- */

umbel_err umbel_hash_many(const umbel_filter *filter, const umbel_key *keys, size_t n,
                          uint64_t *hashes, umbel_diag *diag) {
    if (!filter->ops->hash_many) return no_hashes(diag);
    if (n) filter->ops->hash_many(filter, keys, n, hashes);
    return UMBEL_OK;
}

extern inline uint64_t umbel_mix(uint64_t number); /* for callers that do not inline it */

bool umbel_contains_hash(const umbel_filter *filter, uint64_t hash) {
    return filter->ops->contains_hash ? filter->ops->contains_hash(filter, hash) : true;
}

void umbel_contains_hashes(const umbel_filter *filter, const uint64_t *hashes, size_t n,
                           uint8_t *hit) {
    if (n == 0) return;
    if (filter->ops->contains_hashes) {
        filter->ops->contains_hashes(filter, hashes, n, hit);
    } else {
        memset(hit, 1, n);
    }
}
