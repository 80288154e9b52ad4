/* SPDX-License-Identifier: MIT
 *
 * hashing.h - the hash of one key, and whether there are any, in a word
 */
#ifndef HASHING_H
#define HASHING_H

#include "umbel.h"

static inline bool takes_hashes(const umbel_filter *f) {
    umbel_info info;
    umbel_describe(f, &info);
    return info.takes_hashes;
}

/* 0 where there are none. */
static inline uint64_t one_hash(const umbel_filter *f, const void *key, size_t len) {
    uint64_t hash = 0;
    (void)umbel_hash_many(f, &(umbel_key){key, len}, 1, &hash, NULL);
    return hash;
}

#endif
