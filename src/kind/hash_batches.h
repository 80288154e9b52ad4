/* SPDX-License-Identifier: MIT
 *
 * hash_batches.h - for kinds that need a 64-bit hash per key: batches of keys as batches of hashes
 *
 * Members of umbeli_ops for natively hashed kinds, made from their contains_hashes and add_hashes.
 */
#ifndef UMBELI_HASH_BATCHES_H
#define UMBELI_HASH_BATCHES_H

#include "hash/native_hash.h"

void umbeli_hashed_hash_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                             uint64_t *hashes);
void umbeli_hashed_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                 uint8_t *hit);
umbel_err umbeli_hashed_add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                                 size_t *done);

#endif
