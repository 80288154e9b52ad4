/* SPDX-License-Identifier: MIT
 *
 * umbel_delta.h - small updates of a list: made, put beside its filter, and looked up with it
 *
 * A companion of umbel_lookup.h, with a version of its own (docs/abi.md).  The rules of umbel.h
 * hold here as well.
 */
#ifndef UMBEL_DELTA_H
#define UMBEL_DELTA_H

#include "umbel_lookup.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UMBEL_DELTA_VERSION 1

/* A list can be published as a filter, the base, and deltas that follow it: a delta holds the keys
 * that came since, at the base's rate, and those that left, exactly, in a few bytes each.  The
 * deltas of a base in the file PATH are one after the other in the file PATH.deltas, where
 * umbel_delta_apply puts them, each with its signature if it has one.  With them the list never
 * misses a key that it should have, never has one that left (unless that has the 64-bit hash of one
 * that stayed), and other keys are found at most at the sum of all rates.
 *
 * Whoever opens PATH with umbel_file_open has the base alone.  A lookup of umbel_lookup_list, or of
 * an umbel_source, is that of the list. */

/* What a delta holds, or all deltas that follow a base. */
typedef struct umbel_delta_info {
    uint64_t number;  /* of the delta, or the newest one: 1 follows the base.  0: there is none   */
    uint64_t added;   /* keys that came ...                                                       */
    uint64_t removed; /* ... and that left                                                        */
    uint64_t guarded; /* good keys (umbel_delta_never) that would be found, and are not           */
    uint64_t keys;    /* in the list, afterwards                                                  */
    uint64_t bytes;   /* of the delta, or of all                                                  */
    double fpr;       /* what they add to the base's rate                                         */
    uint64_t base;    /* checksums: of the base ...                                               */
    uint64_t before;  /* ... of the delta before it, or of the base ...                           */
    uint64_t sum;     /* ... and of the delta, or the newest one                                  */
    double base_fpr;  /* which the base promises; 0: none, or only the delta was read             */
    uint64_t reserved[3];
} umbel_delta_info;

/* umbel_lookup_new for the filter in the file PATH, and the deltas beside it.  If PATH.deltas is
 * damaged, or the guard (optional) does not accept each delta in it by the signature that is there
 * as well, there is no lookup.  Deltas that follow another base are left aside: after UMBEL_OK,
 * diag->what is NULL or says so.  umbel_lookup_deltas describes all of them; false: there are
 * none. */
UMBEL_API umbel_err umbel_lookup_list(const umbel_filter *filter, const char *path,
                                      const char *recipe, const umbel_guard *guard,
                                      umbel_lookup **out, umbel_diag *diag);
UMBEL_API bool umbel_lookup_deltas(const umbel_lookup *lookup, umbel_delta_info *all);

/* Why a new base would be better than these deltas after one whose file has so many bytes: there
 * are 30 of them, where single lookups take up to 1.8 times the base's time, they have half its
 * bytes, or all rates together are more than ten times the base's.  NULL: it would not. */
UMBEL_API const char *umbel_delta_rebase(const umbel_delta_info *all, uint64_t base_bytes);

/* Makes the next delta of a list, which is that of the lookup.  Give it the list's keys before and
 * after, in any order; keys may be in several calls.  fpr is the rate of the keys that came; 0:
 * that which the base promises, but at most 1e-4 if it is exact.  The lookup is held. */
typedef struct umbel_delta umbel_delta;
UMBEL_API umbel_err umbel_delta_new(const umbel_lookup *from, double fpr, umbel_delta **out,
                                    umbel_diag *diag);

#define UMBEL_DELTA_BEFORE 1u /* the keys are in the list as it was                               */
#define UMBEL_DELTA_AFTER 2u  /* the keys are in the list as it will be                           */
UMBEL_API umbel_err umbel_delta_keys(umbel_delta *delta, uint32_t where, const umbel_key *keys,
                                     size_t n, umbel_diag *diag);

/* Good keys, which the list must not find after the delta unless they are in it.  Exceptions of the
 * base need not be given; of an exact base, all known keys that are not in the list must. */
UMBEL_API umbel_err umbel_delta_never(umbel_delta *delta, const umbel_key *good, size_t n,
                                      umbel_diag *diag);

/* The bytes live until the delta is freed.  UMBEL_EMISMATCH, with diag->field "before" or "keys":
 * keys that were given as those before are not in the list, or there are more in it.  UMBEL_EINVAL,
 * with "never": the base is exact, and fewer good keys were given than it knows. */
UMBEL_API umbel_err umbel_delta_finish(umbel_delta *delta, const void **bytes, size_t *len,
                                       umbel_delta_info *info, umbel_diag *diag);
UMBEL_API void umbel_delta_free(umbel_delta *delta); /* NULL is allowed                           */

/* Checks the delta at the start of these bytes, and says what it holds; info->bytes is its length.
 */
UMBEL_API umbel_err umbel_delta_read(const void *bytes, size_t len, umbel_delta_info *info,
                                     umbel_diag *diag);

/* Puts a delta, or several one after the other, beside the base in the file PATH, atomically as by
 * umbel_file_save; PATH.deltas is what umbel_update_begin locks and waits for.  *all (optional)
 * describes all that follow the base then.  Deltas that are there already are passed over, but for
 * a new signature; those of an earlier base are removed.  UMBEL_EMISMATCH, with diag->field "base",
 * "number" or "before": a delta is for another base, others are missing before it, or another one
 * has its place.  On failure nothing changes, but for UMBEL_EUNSYNCED.
 *
 * `signature` (optional) is what is in the file beside that of a single delta (DELTA.minisig); in
 * files of deltas, such as PATH.deltas, each has its own already.  Signatures are kept, and the
 * guard (optional) must accept each delta by its own, or UMBEL_EUNSIGNED. */
UMBEL_API umbel_err umbel_delta_apply(const char *path, double wait_seconds, const void *bytes,
                                      size_t len, const umbel_key *signature,
                                      const umbel_guard *guard, umbel_delta_info *all,
                                      umbel_diag *diag);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_DELTA_H */
