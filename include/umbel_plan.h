/* SPDX-License-Identifier: MIT
 *
 * umbel_plan.h - what is possible: keys, false-positive rate and memory weighed against each other
 *
 *   umbel_plan plan = { .capacity = 2000000000, .bytes = 500 << 20 };
 *   if (umbel_plan_solve(&plan, NULL) == UMBEL_OK) printf("%g%%\n", 100 * plan.fpr);
 *
 * The models are those of the filter that would be made, not the textbook's: docs/planning.md.
 */
#ifndef UMBEL_PLAN_H
#define UMBEL_PLAN_H

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum umbel_verdict {
    UMBEL_PLAN_OK = 0,
    UMBEL_PLAN_UNDERDETERMINED = 1, /* fewer than two of capacity, fpr, bytes                     */
    UMBEL_PLAN_BAD_RATE = 2,        /* fpr is not between 0 and 1                                 */
    UMBEL_PLAN_BELOW_BOUND = 3,     /* fewer bits per key than log2(1/fpr): no filter can do it   */
    UMBEL_PLAN_BEYOND_KIND = 4,     /* possible for other kinds, not for this one                 */
    UMBEL_PLAN_TOO_LARGE = 5,       /* more than this kind, or 2^63 bits, can address             */
    UMBEL_PLAN_TOO_SMALL = 6,       /* fewer bytes than the smallest filter of this kind          */
    UMBEL_PLAN_BAD_KIND = 7,        /* no such kind                                               */
    UMBEL_PLAN_BAD_HASHES = 8       /* more probes than supported, or this kind fixes them        */
} umbel_verdict;

typedef struct umbel_plan {
    umbel_kind kind;       /* in: AUTO or a kind; out: the kind chosen                            */
    uint32_t hashes;       /* in: 0 or a choice; out: probes per key                              */
    uint64_t capacity;     /* in: two of these three, or all; out: all                            */
    double fpr;            /* all but about one in a thousand such filters are at or below this rate
                              once `capacity` keys are in                                         */
    uint64_t bytes;
    uint64_t bits;         /* out: size of the bit array                                          */
    double rate;           /* out: mean rate over all such filters at capacity; at most fpr       */
    double bits_per_key;   /* out                                                                 */
    double bound;          /* out: 2^-(bits per key), below which no filter can go                */
    uint32_t generations;  /* window, in: 0 or a choice; out: that or 8                           */
    umbel_verdict verdict; /* out: why it was refused ...                                         */
    const char *why;       /* ... as text; with AUTO, why this kind was chosen; never NULL        */
    double rate_alike;     /* out, of umbel_plan_foreign: the rate for keys whose hashes all end
                              alike; 0 where that makes no difference                             */
    const char *caution;   /* out, of umbel_plan_foreign: who misreads such a filter, or NULL      */
    uint64_t universe;     /* exact, in: known keys that are not in the filter, and never found in it;
                              then capacity alone is enough, and fpr is the rate for all others   */
    uint64_t reserved[1];
} umbel_plan;

/* Completes the plan: given capacity and fpr, the fewest bytes; given bytes and fpr, the highest
 * capacity; given capacity and bytes, the lowest fpr.  On UMBEL_EINVAL, verdict and why give the
 * reason, and the inputs are unchanged. */
UMBEL_API umbel_err umbel_plan_solve(umbel_plan *plan, umbel_diag *diag);

/* The rate of a solved plan after this many keys, by the model. */
UMBEL_API double umbel_plan_rate(const umbel_plan *plan, uint64_t keys);

UMBEL_API const char *umbel_verdict_name(umbel_verdict verdict); /* "below-bound"; NULL: none    */

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_PLAN_H */
