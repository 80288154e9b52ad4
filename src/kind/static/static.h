/* SPDX-License-Identifier: MIT
 *
 * static.h - binary fuse filters: built once from all keys, small and fast
 *
 * A key's hash picks a shard with its upper bits and three or four slots there, one in each of as
 * many neighbouring segments.  Building sets the slots so that their XOR is the key's fingerprint;
 * any other key sees r random bits and matches by chance one time in 2^r.
 *
 *   static.c          creating and restoring, lookups, batches
 *   static_avx2.c     batches for AVX2
 *   static_shard.c    one shard: finding an order in which its keys can be solved, and solving
 *   static_sort.c     sorts hashes and drops duplicates
 *   static_store.c    collects hashes, in memory or in a temporary file
 *   static_shards.c   hands sorted hashes to threads shard by shard
 *   static_build.c    from keys in any order to a filter
 */
#ifndef UMBELI_STATIC_H
#define UMBELI_STATIC_H

#include "core/bits.h"
#include "core/filter.h"
#include "kind/static/static_store.h"
#include "plan/static_layout.h"

enum { UMBELI_SCHEME_STATIC = 1, UMBELI_STATIC_MAX_ARITY = 4 };

/* A key's slots in its shard's table, and the fingerprint that they must add up to. */
typedef struct umbeli_static_place {
    uint32_t slot[UMBELI_STATIC_MAX_ARITY];
    uint32_t print; /* fingerprint of 32 bits; a table holds the lower ones */
} umbeli_static_place;

static inline uint64_t umbeli_static_shard(const umbeli_static_layout *l, uint64_t hash) {
    return (hash >> 1) >> (63 - l->shard_bits);
}

/* The first slot follows from the hash alone, so that hashes in order have their slots in order and
 * building walks through memory; the seed moves the others within their segments.  arity is that of
 * the layout, passed as a parameter because loops of constant length are faster. */
static inline umbeli_static_place
umbeli_static_place_of(const umbeli_static_layout *l, uint32_t arity, uint64_t hash, uint8_t seed) {
    uint64_t x = hash + seed * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    uint64_t range = (uint64_t)l->segments << l->segment_bits;
    uint32_t first = (uint32_t)umbeli_mul_high(hash << l->shard_bits, range);
    uint32_t step = UINT32_C(1) << l->segment_bits, mask = step - 1;
    umbeli_static_place place = {.slot = {first}};
    place.slot[1] = (first + step) ^ ((uint32_t)x & mask);
    place.slot[2] = (first + 2 * step) ^ ((uint32_t)(x >> 21) & mask);
    if (arity == 4) place.slot[3] = (first + 3 * step) ^ ((uint32_t)(x >> 42) & mask);
    place.print = (uint32_t)((x * UINT64_C(0xa0761d6478bd642f)) >> 32);
    return place;
}

typedef struct umbeli_static {
    umbel_filter base; /* data: a seed for each shard, then the tables */
    umbeli_static_layout layout;
    uint64_t tables_at, wide_len, narrow_len; /* of one table, bytes */
} umbeli_static;

static inline const umbeli_static *umbeli_static_of(const umbel_filter *f) {
    return (const umbeli_static *)f;
}

/* A filter of this layout with all bytes zero, which is not valid until they are filled in. */
umbel_err umbeli_static_new(const umbeli_static_layout *layout, umbeli_shape shape,
                            const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag);

/* The table of a shard in the filter's data. */
static inline uint8_t *umbeli_static_table(const umbeli_static *s, uint64_t shard) {
    uint64_t wide = s->layout.wide, at = shard * s->wide_len;
    if (shard >= wide) at = wide * s->wide_len + (shard - wide) * s->narrow_len;
    return s->base.data + s->tables_at + at;
}

static inline uint32_t umbeli_static_width(const umbeli_static_layout *l, uint64_t shard) {
    return l->width + (shard < l->wide);
}

/* Batches for AVX2, of a filter that is not empty and whose tables are below 4 GiB each. */
void umbeli_static_contains_avx2(const umbeli_static *s, const uint64_t *hashes, size_t n,
                                 uint8_t *hit);

/* ---- static_shard.c ---- */

/* Scratch memory for building shards of this layout, one after another. */
typedef struct umbeli_static_scratch {
    uint64_t *sums;  /* [slots] XOR of the hashes that have this slot; later its fingerprint */
    uint8_t *counts; /* [slots] four times their number, XOR which of their slots this is */
    uint64_t *order; /* [keys] hashes in the order they can be solved, last one first */
    uint8_t *which;  /* [keys] which of its slots a key is solved by */
    uint32_t *queue; /* [slots + 1] */
} umbeli_static_scratch;

umbel_err umbeli_static_scratch_new(const umbeli_static_layout *layout, uint64_t keys,
                                    const umbeli_settings *settings, umbeli_static_scratch *out);
void umbeli_static_scratch_delete(const umbeli_settings *settings, umbeli_static_scratch *scratch);

/* Fills the table of a shard from its n sorted, distinct hashes and returns the seed, from 1 to
 * 255; 0 when no seed works. */
uint8_t umbeli_static_build_shard(const umbeli_static_layout *layout,
                                  umbeli_static_scratch *scratch, const uint64_t *hashes, size_t n,
                                  uint32_t width, uint8_t *table);

/* ---- static_build.c ---- */

typedef struct umbeli_static_builder umbeli_static_builder;

/* For static and tight filters.  Takes params->fpr or bytes, seed, hashes; keys are counted.
 * directory: as in umbeli_store_new. */
umbel_err umbeli_static_builder_new(const umbel_params *params, const char *directory,
                                    const umbeli_settings *settings, umbeli_static_builder **out,
                                    umbel_diag *diag);
umbel_err umbeli_static_builder_add(umbeli_static_builder *builder, const umbel_key *keys, size_t n,
                                    umbel_diag *diag);
umbel_err umbeli_static_builder_finish(umbeli_static_builder *builder, umbel_filter **out,
                                       umbel_diag *diag);
void umbeli_static_builder_delete(umbeli_static_builder *builder);

#endif
