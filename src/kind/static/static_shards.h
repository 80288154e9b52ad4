/* SPDX-License-Identifier: MIT
 *
 * static_shards.h - the hashes of all keys, in order, each once, handed out shard by shard
 *
 * What the kinds that are built once share.  A shard is all hashes that begin with the same
 * shard_bits bits.
 */
#ifndef UMBELI_STATIC_SHARDS_H
#define UMBELI_STATIC_SHARDS_H

#include "kind/static/static_store.h"

typedef struct umbeli_shards {
    umbeli_settings settings;
    umbeli_store *store;
    uint32_t part_bits; /* at least those of a bucket and of a shard */
    uint32_t *parts;    /* [2^part_bits] keys whose hashes begin so, once they are sorted */
} umbeli_shards;

enum { UMBELI_SHARDS_THREADS = 64 /* the most */ };

/* directory: as in umbeli_store_new. */
umbel_err umbeli_shards_begin(umbeli_shards *s, const char *directory,
                              const umbeli_settings *settings, umbel_diag *diag);
void umbeli_shards_end(umbeli_shards *s); /* zeroed is fine, too */

/* Sorts what is in the store and drops duplicates.  No shard_bits above those of
 * umbeli_static_shard_bits(number of hashes) will do from then on. */
umbel_err umbeli_shards_sort(umbeli_shards *s, umbel_diag *diag);

/* How many hashes there are, and how many in the fullest shard, once they are sorted. */
uint64_t umbeli_shards_count(const umbeli_shards *s);
uint64_t umbeli_shards_fullest(const umbeli_shards *s, uint32_t shard_bits);

/* Does one shard; t tells the threads apart, below memory.threads.  The hashes are sorted, and the
 * function may overwrite them. */
typedef umbel_err umbeli_shard_work(void *ctx, uint32_t t, uint64_t shard, uint64_t *hashes,
                                    size_t n, umbel_diag *diag);

/* Every shard once, by all threads, in any order; the error of one that failed. */
umbel_err umbeli_shards_each(const umbeli_shards *s, uint32_t shard_bits, umbeli_shard_work *work,
                             void *ctx, umbel_diag *diag);

#endif
