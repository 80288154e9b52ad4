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

enum { UMBELI_SCHEME_STATIC = 1, UMBELI_STATIC_MAX_ARITY = 4, UMBELI_STATIC_FIRST_SEED = 1 };

/* A key's slots in its shard's table, and the fingerprint that they must add up to. */
typedef struct umbeli_static_place {
    uint32_t slot[UMBELI_STATIC_MAX_ARITY];
    uint32_t print; /* fingerprint of 32 bits; a table holds the lower ones */
} umbeli_static_place;

/* What places follow from: a layout, as lookups need it. */
typedef struct umbeli_static_grid {
    uint64_t range, step; /* slots that can be a key's first; slots of a segment */
    uint32_t shard_bits, shard_shift;
} umbeli_static_grid;

static inline umbeli_static_grid umbeli_static_grid_of(const umbeli_static_layout *l) {
    uint64_t step = UINT64_C(1) << l->segment_bits;
    return (umbeli_static_grid){l->segments * step, step, l->shard_bits, 63 - l->shard_bits};
}

static inline uint64_t umbeli_static_shard(const umbeli_static_grid *g, uint64_t hash) {
    return (hash >> 1) >> g->shard_shift;
}

/* All of a hash, under a shard's seed: where its slots but the first are within their segments, and
 * its fingerprint. */
static inline uint64_t umbeli_static_mix(uint64_t hash, uint8_t seed) {
    uint64_t x = hash + seed * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

static inline uint32_t umbeli_static_print(uint64_t mixed) {
    return (uint32_t)((mixed * UINT64_C(0xa0761d6478bd642f)) >> 32);
}

/* Slot i, given the first and the length of a segment. */
static inline uint64_t umbeli_static_slot(uint64_t first, uint64_t step, uint64_t mixed,
                                          uint32_t i) {
    return i ? (first + i * step) ^ ((mixed >> 21 * (i - 1)) & (step - 1)) : first;
}

/* The first slot follows from the hash alone, so that hashes in order have their slots in order and
 * building walks through memory; the seed moves the others within their segments.  arity is that of
 * the layout, passed as a parameter because loops of constant length are faster. */
static inline umbeli_static_place
umbeli_static_place_of(const umbeli_static_grid *g, uint32_t arity, uint64_t hash, uint8_t seed) {
    uint64_t x = umbeli_static_mix(hash, seed);
    uint64_t first = umbeli_mul_high(hash << g->shard_bits, g->range);
    umbeli_static_place place = {.slot = {(uint32_t)first}, .print = umbeli_static_print(x)};
    place.slot[1] = (uint32_t)umbeli_static_slot(first, g->step, x, 1);
    place.slot[2] = (uint32_t)umbeli_static_slot(first, g->step, x, 2);
    if (arity == 4) place.slot[3] = (uint32_t)umbeli_static_slot(first, g->step, x, 3);
    return place;
}

typedef struct umbeli_static {
    umbel_filter base; /* data: a seed for each shard, then the tables */
    umbeli_static_layout layout;
    uint64_t tables_at, wide_len, narrow_len; /* of one table, bytes */
    umbeli_static_grid grid;

    /* Four slots per key, of a byte each: all tables are one array of bytes.  The slots in the
     * ranges of all shards, and between two of these. */
    bool bytes;
    uint64_t ranges, between;
} umbeli_static;

static inline const umbeli_static *umbeli_static_of(const umbel_filter *f) {
    return (const umbeli_static *)f;
}

/* A filter of this layout with all bytes zero, which is not valid until they are filled in. */
umbel_err umbeli_static_new(const umbeli_static_layout *layout, umbeli_shape shape,
                            const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag);

/* The table of a shard in the filter's data. */
static inline uint8_t *umbeli_static_table(const umbeli_static *s, uint64_t shard) {
    uint64_t wide = s->layout.wide, before = shard < wide ? shard : wide;
    uint64_t at = shard * s->narrow_len + before * (s->wide_len - s->narrow_len);
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
    uint64_t *sums;      /* [slots] XOR of the hashes that have this slot; later its fingerprint */
    uint8_t *counts;     /* [slots] four times their number, XOR which of their slots this is */
    uint64_t *order;     /* [keys] hashes in the order they can be solved, last one first */
    uint8_t *which;      /* [keys] which of its slots a key is solved by */
    uint32_t *queue;     /* [slots + 1] */
    umbeli_array memory; /* of all of them */
} umbeli_static_scratch;

umbel_err umbeli_static_scratch_new(const umbeli_static_layout *layout, uint64_t keys,
                                    const umbeli_settings *settings, umbeli_static_scratch *out);
void umbeli_static_scratch_delete(const umbeli_settings *settings, umbeli_static_scratch *scratch);

/* Fills the table of a shard from its n sorted, distinct hashes and returns the seed, from 1 to
 * 255; 0 when none works, or none of the first few for many keys with four slots each. */
uint8_t umbeli_static_build_shard(const umbeli_static_layout *layout,
                                  umbeli_static_scratch *scratch, const uint64_t *hashes, size_t n,
                                  uint32_t width, uint8_t *table);

/* ---- static_build.c ---- */

typedef struct umbeli_static_builder umbeli_static_builder;

/* For the kinds that are built once.  Takes params->fpr or bytes, seed, hashes; keys are counted.
 * directory: as in umbeli_store_new. */
umbel_err umbeli_static_builder_new(const umbel_params *params, const char *directory,
                                    const umbeli_settings *settings, umbeli_static_builder **out,
                                    umbel_diag *diag);
umbel_err umbeli_static_builder_add(umbeli_static_builder *builder, const umbel_key *keys, size_t n,
                                    umbel_diag *diag);
/* Exact filters: keys that must not be found. */
umbel_err umbeli_static_builder_never(umbeli_static_builder *builder, const umbel_key *keys,
                                      size_t n, umbel_diag *diag);
/* report: of such keys. */
umbel_err umbeli_static_builder_finish(umbeli_static_builder *builder, umbel_filter **out,
                                       umbel_build_report *report, umbel_diag *diag);
void umbeli_static_builder_delete(umbeli_static_builder *builder);

#endif
