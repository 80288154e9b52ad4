/* SPDX-License-Identifier: MIT
 *
 * tight.h - tight filters: bumped ribbon retrieval, built once, close to the minimum space
 *
 *   tight.c         how they work; creating and restoring, lookups
 *   tight_kernel.h  lookups and back substitution, the source of both kernels
 *   tight_avx2.c    the kernel for AVX2
 *   tight_table.c   one table: elimination, thresholds, back substitution
 *   tight_build.c   all levels, from sorted hashes
 *
 * A ribbon returns a value for each of its keys.  In a tight filter that is the key's fingerprint;
 * filters of kind exact (exact.h) have a second ribbon, whose keys carry a bit each.
 */
#ifndef UMBELI_TIGHT_H
#define UMBELI_TIGHT_H

#include "core/bits.h"
#include "core/filter.h"
#include "kind/static/static_shards.h"
#include "plan/tight_layout.h"

enum { UMBELI_SCHEME_TIGHT = 1, UMBELI_TIGHT_SEEDS = 256 };

/* For functions whose first parameter is a constant: the window, in words of a row.  Where code has
 * to be small, as in a web page, the compiler decides. */
#if defined(__OPTIMIZE_SIZE__)
#define UMBELI_TIGHT_INLINE inline
#else
#define UMBELI_TIGHT_INLINE inline __attribute__((always_inline))
#endif

/* A level as lookups need it: everything in the layout, precomputed. */
typedef struct umbeli_tight_rung {
    uint64_t odd; /* multiplier from the level's seed */
    uint32_t shard_bits, window;
    uint32_t places, blocks;
    uint32_t narrow, width;
    uint64_t table_words, marks_len; /* of one shard */
    uint64_t tables_at, marks_at;    /* in the filter's data */
    uint64_t carried;                /* as in the ribbon */
} umbeli_tight_rung;

typedef struct umbeli_ribbon {
    umbeli_tight_layout layout;
    uint32_t seeds[UMBELI_TIGHT_MAX_LEVELS];
    uint64_t carried; /* the bits of a hash that are not the key's but its value, 0 or 1; with
                         none, the value is the fingerprint */
    uint64_t marks_at, tables_at; /* thresholds and tables of all levels, in the filter's data */
    umbeli_tight_rung rungs[UMBELI_TIGHT_MAX_LEVELS];
} umbeli_ribbon;

typedef struct umbeli_tight {
    umbel_filter base; /* data: thresholds of all levels, then tables of all levels */
    umbeli_ribbon ribbon;
} umbeli_tight;

static inline const umbeli_tight *umbeli_tight_of(const umbel_filter *f) {
    return (const umbeli_tight *)f;
}

/* Seed 0 gives 1, so that sorted hashes have sorted places. */
static inline uint64_t umbeli_tight_odd(uint32_t seed) {
    return 1 + seed * UINT64_C(0x9e3779b97f4a7c16);
}

static inline uint64_t umbeli_tight_shard(uint32_t shard_bits, uint64_t x) {
    return (x >> 1) >> (63 - shard_bits);
}

/* A key's number within its shard, unique over all shards.  The upper bits are the place, the lower
 * ones the shard. */
static inline uint64_t umbeli_tight_inner(uint32_t shard_bits, uint64_t odd, uint64_t x) {
    return (x << shard_bits) * odd + umbeli_tight_shard(shard_bits, x);
}

/* Gives row and print of a key that stays, and the next level's hash of one that does not.
 * Invertible, so different keys stay different. */
static inline uint64_t umbeli_tight_mix(uint64_t x) {
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

/* A word of a key's row: bit i of word j selects slot 64 j + i from the window's first one on. */
static inline uint64_t umbeli_tight_row(uint64_t mixed, uint32_t word) {
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    return word == 0 ? mixed | 1 : umbeli_mul_high(mixed, odd) ^ (mixed * odd);
}

static inline uint32_t umbeli_tight_print(uint64_t mixed) {
    return (uint32_t)((mixed * UINT64_C(0xa0761d6478bd642f)) >> 32);
}

/* The first word of a block in its table. */
static inline uint64_t umbeli_tight_block_at(uint32_t width, uint32_t narrow, uint32_t block) {
    return (uint64_t)block * width + (block > narrow ? block - narrow : 0);
}

/* A filter of this layout with all bytes zero and all seeds 0. */
umbel_err umbeli_tight_new(const umbeli_tight_layout *layout, umbeli_shape shape,
                           const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag);

/* Computes everything that follows from layout, seeds and where the ribbon lies. */
void umbeli_ribbon_settle(umbeli_ribbon *r);

/* Gives a level another seed. */
void umbeli_ribbon_set_seed(umbeli_ribbon *r, uint32_t level, uint32_t seed);

/* A ribbon's parameters in files.  Taking them returns what is wrong with them, or NULL; nothing is
 * settled, and levels may have any length. */
uint64_t umbeli_ribbon_params_len(const umbeli_ribbon *r);
void umbeli_ribbon_put_params(const umbeli_ribbon *r, umbeli_writer *w);
const char *umbeli_ribbon_take_params(umbeli_ribbon *r, umbeli_reader *params);

typedef struct umbeli_tight_scratch umbeli_tight_scratch;

typedef struct umbeli_tight_kernel {
    const umbeli_ops *ops;
    /* From equations in echelon form to the words of a table. */
    void (*solve)(const umbeli_tight_rung *rung, const umbeli_tight_scratch *scratch,
                  uint8_t *table);
} umbeli_tight_kernel;

extern const umbeli_tight_kernel umbeli_tight_generic, umbeli_tight_avx2;

/* The best kernel for this processor. */
const umbeli_tight_kernel *umbeli_tight_best(void);

/* Common to both kernels. */
umbel_err umbeli_tight_copy(umbel_filter *into, const umbel_filter *from);
void umbeli_tight_measure(const umbel_filter *f, umbel_measurement *now);
uint64_t
umbeli_tight_thresholds(const umbel_filter *f); /* their bytes, at the start of the payload */

/* ---- tight_table.c ---- */

/* Scratch memory for building the tables of one level, one after another. */
struct umbeli_tight_scratch {
    const umbeli_tight_kernel *kernel;
    uint64_t *rows;    /* [window * slots] the equation that begins here, 0: none */
    uint32_t *prints;  /* [slots] its right-hand side: a fingerprint, or a value carried */
    uint64_t *scratch; /* [keys] for sorting; may be NULL while the seed is 0 */
};

/* Fills one table and its thresholds from n sorted, distinct hashes, overwrites these with the
 * hashes for the next level and returns their number.  With marks NULL no key may be left over;
 * SIZE_MAX if one would be.  The caller has zeroed tables and thresholds. */
size_t umbeli_tight_build_table(const umbeli_tight_rung *r, umbeli_tight_scratch *b,
                                uint64_t *hashes, size_t n, uint8_t *marks, uint8_t *table);

/* How many places of a built table pass keys on. */
umbeli_tight_passed umbeli_tight_table_passed(const umbeli_tight_rung *r, const uint8_t *marks);

/* ---- tight_build.c ---- */

/* Fills a ribbon's part of `data` from sorted hashes.  The rate, which what is passed on decides,
 * must be at most fpr. */
umbel_err umbeli_ribbon_build(umbeli_ribbon *r, uint8_t *data, double fpr,
                              const umbeli_shards *shards, const char *directory, umbel_diag *diag);

/* Builds a filter from sorted hashes for params->fpr or bytes.  directory: for the hashes of
 * further levels. */
umbel_err umbeli_tight_build(const umbeli_shards *shards, const umbel_params *params,
                             const umbeli_shape *like, const char *directory, umbel_filter **out,
                             umbel_diag *diag);

#endif
