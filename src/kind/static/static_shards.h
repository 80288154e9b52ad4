/* SPDX-License-Identifier: MIT
 *
 * static_shards.h - the distinct hashes of all keys, sorted, handed out shard by shard
 *
 * Shared by the kinds that are built once.  A shard is all hashes that begin with the same
 * shard_bits bits.
 */
#ifndef UMBELI_STATIC_SHARDS_H
#define UMBELI_STATIC_SHARDS_H

#include "kind/static/static_store.h"

typedef struct umbeli_shards {
    umbeli_settings settings;
    umbeli_store *store;
    uint32_t part_bits; /* at least the bits of a bucket and of a shard */
    uint32_t *parts;    /* [2^part_bits] number of hashes with this prefix, once sorted */
} umbeli_shards;

enum { UMBELI_SHARDS_MAX_THREADS = 64 };

/* directory: as in umbeli_store_new. */
umbel_err umbeli_shards_begin(umbeli_shards *s, const char *directory,
                              const umbeli_settings *settings, umbel_diag *diag);
void umbeli_shards_end(umbeli_shards *s); /* may be zeroed */

/* Sorts the store and drops duplicates.  From then on shard_bits may not exceed
 * umbeli_static_shard_bits(number of hashes). */
umbel_err umbeli_shards_sort(umbeli_shards *s, umbel_diag *diag);

/* The number of hashes, and of those in the fullest shard, once sorted. */
uint64_t umbeli_shards_count(const umbeli_shards *s);
uint64_t umbeli_shards_fullest(const umbeli_shards *s, uint32_t shard_bits);

/* Processes one shard; t, below settings.threads, is the thread.  The hashes are sorted, and the
 * function may overwrite them. */
typedef umbel_err umbeli_shard_work(void *ctx, uint32_t t, uint64_t shard, uint64_t *hashes,
                                    size_t n, umbel_diag *diag);

/* Processes every shard once, on all threads, in any order; returns the error of one that
 * failed. */
umbel_err umbeli_shards_each(const umbeli_shards *s, uint32_t shard_bits, umbeli_shard_work *work,
                             void *ctx, umbel_diag *diag);

#endif
