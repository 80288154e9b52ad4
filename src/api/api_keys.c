/* SPDX-License-Identifier: MIT
 *
 * api_keys.c - keys and hashes in, answers out: one indirect call each
 *
 * Arrays of no keys may be NULL, so they end here.
 */
#include "core/filter.h"

umbel_err umbel_add(umbel_filter *filter, const void *key, size_t len, bool *was_new) {
    if (filter->frozen) return UMBEL_EFROZEN;
    return filter->ops->add(filter, key, len, was_new);
}

bool umbel_contains(const umbel_filter *filter, const void *key, size_t len) {
    return filter->ops->contains(filter, key, len);
}

umbel_err umbel_add_many(umbel_filter *filter, const umbel_key *keys, size_t n, uint8_t *was_new) {
    if (filter->frozen) return UMBEL_EFROZEN;
    size_t done;
    return n ? filter->ops->add_many(filter, keys, n, was_new, &done) : UMBEL_OK;
}

void umbel_contains_many(const umbel_filter *filter, const umbel_key *keys, size_t n,
                         uint8_t *hit) {
    if (n) filter->ops->contains_many(filter, keys, n, hit);
}

umbel_err umbel_remove(umbel_filter *filter, const void *key, size_t len) {
    if (!filter->ops->remove) return UMBEL_ENOTSUP;
    if (filter->frozen) return UMBEL_EFROZEN;
    return filter->ops->remove(filter, key, len);
}

uint32_t umbel_count(const umbel_filter *filter, const void *key, size_t len) {
    if (filter->ops->count) return filter->ops->count(filter, key, len);
    return filter->ops->contains(filter, key, len);
}

umbel_err umbel_advance(umbel_filter *filter) {
    if (!filter->ops->advance) return UMBEL_ENOTSUP;
    if (filter->frozen) return UMBEL_EFROZEN;
    return filter->ops->advance(filter);
}

bool umbel_takes_hashes(const umbel_filter *filter) {
    return filter->ops->hash_many != NULL;
}

uint64_t umbel_hash(const umbel_filter *filter, const void *key, size_t len) {
    uint64_t hash = 0;
    umbel_hash_many(filter, &(umbel_key){key, len}, 1, &hash);
    return hash;
}

umbel_err umbel_hash_many(const umbel_filter *filter, const umbel_key *keys, size_t n,
                          uint64_t *hashes) {
    if (!filter->ops->hash_many) return UMBEL_ENOTSUP;
    if (n) filter->ops->hash_many(filter, keys, n, hashes);
    return UMBEL_OK;
}

bool umbel_contains_hash(const umbel_filter *filter, uint64_t hash) {
    return filter->ops->contains_hash ? filter->ops->contains_hash(filter, hash) : true;
}

umbel_err umbel_add_hashes(umbel_filter *filter, const uint64_t *hashes, size_t n,
                           uint8_t *was_new) {
    if (!filter->ops->hash_many) return UMBEL_ENOTSUP;
    if (filter->frozen) return UMBEL_EFROZEN;
    size_t done;
    return n ? filter->ops->add_hashes(filter, hashes, n, was_new, &done) : UMBEL_OK;
}

umbel_err umbel_contains_hashes(const umbel_filter *filter, const uint64_t *hashes, size_t n,
                                uint8_t *hit) {
    if (!filter->ops->contains_hashes) return UMBEL_ENOTSUP;
    if (n) filter->ops->contains_hashes(filter, hashes, n, hit);
    return UMBEL_OK;
}
