/* SPDX-License-Identifier: MIT */
#include "kind/hash_batches.h"

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
