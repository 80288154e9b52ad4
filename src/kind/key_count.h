/* SPDX-License-Identifier: MIT
 *
 * key_count.h - how many keys are in a filter, as well as can be known
 *
 * There are two sources.  The count of adds that changed the filter misses only the keys that a
 * false positive hid, and a model says how many these are; but it counts keys twice that two merged
 * filters had in common, and some formats do not store it.  The bits have none of these faults, but
 * their estimate scatters.  So the count is believed unless the bits contradict it: unless they say
 * that there are fewer keys.  More is not a contradiction, because an intersection leaves bits
 * behind.
 */
#ifndef UMBELI_KEY_COUNT_H
#define UMBELI_KEY_COUNT_H

#include "core/filter.h"

/* What is known: the estimate from the bits with its error, the adds that were counted (0 although
 * bits are set: nobody counted), and those that false positives hid. */
typedef struct umbeli_key_evidence {
    double by_bits, error;
    double counted, hidden, count_error;
} umbeli_key_evidence;

/* Sets keys and keys_error. */
void umbeli_conclude_keys(const umbeli_key_evidence *e, umbel_measurement *now);

/* The adds that false positives hid from a count, by the model of the rate: with rate(ctx, n) after
 * n keys, n - hidden keys changed a bit. */
typedef double umbeli_rate_after(const void *ctx, uint64_t keys);
double umbeli_hidden_from(umbeli_rate_after *rate, const void *ctx, uint64_t counted);

/* umbel_measure for filters whose ops have keys_of_bits; the rate and the set bits are known. */
void umbeli_measure_keys(const umbel_filter *f, umbel_measurement *now);

/* Sets the count to what adding that many keys one by one would have made it. */
void umbeli_count_as_if(umbel_filter *f, double keys);

/* After a merge: sets the count to what it would be if the keys of both had been added to one
 * filter, where more of them are hidden, and keys in common count once, as well as the bits can
 * tell.  The counts are those before the merge. */
void umbeli_count_together(umbel_filter *f, uint64_t mine, uint64_t theirs);

/* After an intersection: sets the count so that it stands for the keys that both had, by the set
 * bits of both before it and of what is left. */
void umbeli_count_common(umbel_filter *f, uint64_t mine, uint64_t theirs, uint64_t both);

/* The standard error of an estimate from m bits, of which each key sets k at random. */
double umbeli_estimate_error(double bits, double hashes, double keys);

#endif
