/* SPDX-License-Identifier: MIT
 *
 * exact.h - exact filters: never wrong about keys that were known when they were built
 *
 *   exact.c        how they work; creating, restoring, lookups
 *   exact_build.c  from the hashes of members and of others
 */
#ifndef UMBELI_EXACT_H
#define UMBELI_EXACT_H

#include "kind/static/tight.h"

enum { UMBELI_SCHEME_EXACT = 1, UMBELI_EXACT_SEEDS = 256 };

/* data: thresholds of both ribbons, then tables of both. */
typedef struct umbeli_exact {
    umbeli_tight tight;     /* the members' fingerprints; without levels it has every key */
    const umbeli_ops *has;  /* how it is asked */
    umbeli_ribbon verdicts; /* 1 for members, 0 for others that tight has; without levels there are
                               no members */
    uint32_t seed;          /* from a key's hash to the verdict's */
    uint64_t others;        /* known keys that are not members */
} umbeli_exact;

static inline const umbeli_exact *umbeli_exact_of(const umbel_filter *f) {
    return (const umbeli_exact *)f;
}

/* A key's hash for its verdict, whose lowest bit is replaced by it.  Unlike the hash itself under
 * every seed, so that keys that cannot be told apart by one will be by another. */
static inline uint64_t umbeli_exact_hash(uint32_t seed, uint64_t hash) {
    return umbeli_tight_mix(hash + (seed + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* An empty filter of these two layouts, all bytes zero. */
umbel_err umbeli_exact_new(const umbeli_tight_layout *prints, const umbeli_tight_layout *verdicts,
                           umbeli_shape shape, const umbeli_settings *settings, umbel_filter **out,
                           umbel_diag *diag);

/* ---- exact_build.c ---- */

/* Builds an exact filter from two sets of hashes that umbeli_store_add has collected, in any order
 * and with repetitions: those of `members` are all in the filter, and of `others` none.  A hash in
 * both is a member's; *in_both says how many there are.  Sorts both sets, and takes what is in both
 * out of `others`.
 *
 * The rate for any other key follows from the sizes of both, in the fewest bytes; params->fpr, if
 * not 0, is a rate to promise for them, and params->bytes a size to stay within.  like: how keys
 * are hashed.  directory: for temporary files, as in umbeli_store_new. */
umbel_err umbeli_exact_build(umbeli_shards *members, umbeli_shards *others,
                             const umbel_params *params, const umbeli_shape *like,
                             const char *directory, umbel_filter **out, uint64_t *in_both,
                             umbel_diag *diag);

#endif
